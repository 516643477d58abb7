import type { Clock } from '../lib/clock.ts';
import { edgeLimits } from '../lib/edge/index.ts';
import { createLoopTurns } from '../lib/loop-turns.ts';
import type { LiveStream } from './streams/live-stream.ts';

type AckedStream = Pick<LiveStream, 'owe' | 'acknowledge'>;

/** Results of one stream whose acknowledgement waits: the daemon keeps each of them on its disk. */
const owedMost = 8;
/** Pause between two acknowledgements while none has waited for long. */
const paceMs = 5;
/** So long an acknowledgement waits behind others. */
const longestMs = 5_000;
/** Acknowledgements that are sent in one turn of the event loop. */
const sentATurn = 16;

/**
 * Acknowledgements of results. No run waits for one, and it takes a signature and a message. So those of a fleet leave 200 a
 * second, behind its commands and results. The next message to the same host takes those of the host along (ADR 0145).
 */
export class LateAcks {
  readonly #clock: Pick<Clock, 'sleep' | 'steadyMs'>;
  /** Streams that are owed some, the longest first, and since when. */
  readonly #owed = new Map<AckedStream, number>();
  readonly #turns = createLoopTurns(sentATurn);
  #isSending = false;

  constructor(clock: Pick<Clock, 'sleep' | 'steadyMs'>) {
    this.#clock = clock;
  }

  /** The result of the command is stored. Resolves when the daemon may send the next one: one that reads nothing is waited for. */
  async add(stream: AckedStream, commandId: string): Promise<void> {
    const count = stream.owe(commandId);
    // A daemon may make up an id of any length.
    if (count >= owedMost || commandId.length > edgeLimits.uuidLength) return stream.acknowledge();
    if (!this.#owed.has(stream)) this.#owed.set(stream, this.#clock.steadyMs());
    if (!this.#isSending) void this.#sendDue();
  }

  /** Sends all: the relay is about to stop, and results that are not acknowledged are sent again. */
  async sendAll(): Promise<void> {
    const streams = [...this.#owed.keys()];
    this.#owed.clear();
    await Promise.all(streams.map(quietly));
  }

  async #sendDue(): Promise<void> {
    this.#isSending = true;
    for (const [stream, since] of this.#owed) {
      if (this.#clock.steadyMs() - since < longestMs) await this.#clock.sleep(paceMs);
      else await this.#turns(1);
      if (this.#owed.delete(stream)) void quietly(stream);
    }
    this.#isSending = false;
  }
}

/** A stream that is over is owed nothing: its daemon sends its results again on the next one. */
const quietly = (stream: AckedStream): Promise<void> => stream.acknowledge().catch(() => undefined);
