import { type Clock, sleepAwake } from '../../clock.ts';

/** A message that has begun to arrive. */
interface Arriving {
  /** It is not whole after its time. */
  onLate(): void;
}

interface LateDeps {
  readonly clock: Clock;
  /** How long a message has to arrive whole, from its first byte on. */
  readonly wholeMs: number;
  /** Aborts when nothing is received any more. */
  readonly stopping: AbortSignal;
}

/** Messages that have begun and are not whole, all of them with one timer: a process holds thousands of streams. */
export class LateMessages {
  readonly #deps: LateDeps;
  /** When each of them began, the oldest first. */
  readonly #begun = new Map<Arriving, number>();
  #isWatching = false;

  get wholeMs(): number {
    return this.#deps.wholeMs;
  }

  constructor(deps: LateDeps) {
    this.#deps = deps;
  }

  /** It has begun. Saying it again changes nothing. */
  add(message: Arriving): void {
    if (this.#begun.has(message)) return;
    this.#begun.set(message, this.#deps.clock.steadyMs());
    if (!this.#isWatching) void this.#watch();
  }

  /** It is whole, or nothing waits for it any more. */
  delete(message: Arriving): void {
    this.#begun.delete(message);
  }

  async #watch(): Promise<void> {
    const { clock, wholeMs, stopping } = this.#deps;
    this.#isWatching = true;
    // One that begins meanwhile is visited later, also where the same stream had one before.
    for (const [message, since] of this.#begun) {
      const waitMs = since + wholeMs - clock.steadyMs();
      if (waitMs > 0) await sleepAwake(clock, waitMs, stopping);
      if (stopping.aborted) break;
      if (this.#begun.get(message) !== since) continue;
      this.#begun.delete(message);
      message.onLate();
    }
    this.#isWatching = false;
  }
}
