import { limits } from '../../../crds/limits.ts';
import { createOutputTexts, type EdgeChunk, type OutputText } from '../../../lib/edge/index.ts';
import type { FairPool, PoolPart } from '../../../lib/fair-pool.ts';
import { type NodeRecord, type Tails, tailOf } from '../../../lib/fleet/node-record.ts';
import { textBytes } from '../../../lib/heap-bytes.ts';
import { fleetRunLimits } from '../limits.ts';

const none: Tails = { stdout: '', stderr: '' };

/** Bytes of heap that two tails take. */
const sizeOf = ({ stdout, stderr }: Tails): number => textBytes(stdout) + textBytes(stderr);

const tailsOf = ({ stdout_tail: stdout, stderr_tail: stderr }: NodeRecord): Tails => ({ stdout, stderr });

/**
 * Ends of outputs that one run keeps in memory: of hosts in flight, and of outcomes that no part of its record has yet. They
 * are held in a pool that all runs share. Where it has no room, tails are short, and then left out; no outcome is.
 */
export class OutputTails {
  readonly #pool: FairPool;
  readonly #tenant: string;
  readonly #tails = new Map<string, Tails>();
  /** By host: each has one command. */
  readonly #texts = createOutputTexts();
  readonly #cut = new Set<string>();
  #place: PoolPart | undefined;
  #bytes = 0;

  constructor(pool: FairPool, tenant: string) {
    this.#pool = pool;
    this.#tenant = tenant;
  }

  /** Hosts whose tails had no room. */
  get cutHosts(): number {
    return this.#cut.size;
  }

  add(node: string, chunk: EdgeChunk): void {
    if (!('stream' in chunk)) return;
    const { stream } = chunk;
    this.#addText(node, { stream, text: this.#texts.next(node, stream, Buffer.from(chunk.data, 'base64')) });
  }

  #addText(node: string, { stream, text }: OutputText): void {
    const before = this.#tails.get(node);
    const { [stream]: known, ...other } = before ?? none;
    const withTail = (bytes: number): Tails => ({ ...none, ...other, [stream]: tailOf(known + text, bytes) });
    const heldBefore = before === undefined ? 0 : sizeOf(before);
    for (const bytes of this.#tailBytes) {
      const after = withTail(bytes);
      if (!this.#hold(this.#bytes - heldBefore + sizeOf(after))) continue;
      if (bytes < limits.fleetTailBytes) this.#cut.add(node);
      this.#tails.set(node, after);
      return;
    }
    this.#cut.add(node);
  }

  /** Gives the tails of a host and forgets them; undefined where it has put out nothing. */
  end(node: string): Tails | undefined {
    for (const rest of this.#texts.end(node)) this.#addText(node, rest);
    const tails = this.#tails.get(node);
    this.#tails.delete(node);
    if (tails !== undefined) this.#hold(this.#bytes - sizeOf(tails));
    return tails;
  }

  /** The outcome as it is kept until it is stored. */
  keep(record: NodeRecord): NodeRecord {
    for (const bytes of [...this.#tailBytes, 0]) {
      const kept = {
        ...record,
        stdout_tail: tailOf(record.stdout_tail, bytes),
        stderr_tail: tailOf(record.stderr_tail, bytes),
      };
      const isCut = sizeOf(tailsOf(kept)) < sizeOf(tailsOf(record));
      if (isCut) this.#cut.add(record.node_id);
      if (bytes === 0 || this.#hold(this.#bytes + heldFor(kept))) return kept;
    }
    return record;
  }

  /** The outcomes are stored. */
  release(records: readonly NodeRecord[]): void {
    this.#hold(this.#bytes - records.reduce((sum, record) => sum + heldFor(record), 0));
  }

  /** The run needs nothing more. */
  close(): void {
    this.#tails.clear();
    this.#hold(0);
  }

  /** Longest tails that may be tried, from the largest on. */
  get #tailBytes(): readonly number[] {
    const { tailsBytes, shortTailBytes } = fleetRunLimits;
    return this.#bytes > tailsBytes ? [shortTailBytes] : [limits.fleetTailBytes, shortTailBytes];
  }

  /** Takes or gives back what makes it so many bytes; false, and nothing changes, where the share is less. */
  #hold(bytes: number): boolean {
    if (bytes > this.#bytes) {
      if (this.#place?.growTo(bytes) === false) return false;
      this.#place ??= this.#pool.tryEnter({ tenant: this.#tenant, cost: bytes });
      if (this.#place === undefined) return false;
    } else this.#place?.shrinkTo(bytes);
    if (bytes === 0) this.#place = undefined;
    this.#bytes = bytes;
    return true;
  }
}

/** An outcome without tails takes no room of the pool. */
const heldFor = (record: NodeRecord): number =>
  record.stdout_tail === '' && record.stderr_tail === '' ? 0 : sizeOf(tailsOf(record));
