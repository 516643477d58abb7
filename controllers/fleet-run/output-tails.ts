import { createOutputTexts, type EdgeChunk, type OutputText } from '../../lib/edge/index.ts';
import { type Tails, tailOf } from '../../lib/fleet/node-record.ts';
import { fleetRunLimits } from './limits.ts';

/** The ends of the outputs of hosts in flight, within the bytes of one run. */
export class OutputTails {
  readonly #tails = new Map<string, Tails>();
  /** By host: each has one command. */
  readonly #texts = createOutputTexts();
  #bytes = 0;

  add(node: string, chunk: EdgeChunk): void {
    if (!('stream' in chunk)) return;
    const { stream } = chunk;
    this.#addText(node, { stream, text: this.#texts.next(node, stream, Buffer.from(chunk.data, 'base64')) });
  }

  /** Gives the tails of a host and forgets them; undefined where it has put out nothing. */
  end(node: string): Tails | undefined {
    for (const rest of this.#texts.end(node)) this.#addText(node, rest);
    const tails = this.#tails.get(node);
    if (tails !== undefined) this.#bytes -= lengthOf(tails);
    this.#tails.delete(node);
    return tails;
  }

  #addText(node: string, { stream, text }: OutputText): void {
    const before = this.#tails.get(node) ?? { stdout: '', stderr: '' };
    const bytes = this.#bytes > fleetRunLimits.tailsBytes ? fleetRunLimits.shortTailBytes : undefined;
    const after = { ...before, [stream]: tailOf(before[stream] + text, bytes) };
    this.#tails.set(node, after);
    this.#bytes += lengthOf(after) - lengthOf(before);
  }
}

const lengthOf = ({ stdout, stderr }: Tails): number => stdout.length + stderr.length;
