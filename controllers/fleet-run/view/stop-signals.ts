import { createLoopTurns } from '../../../lib/loop-turns.ts';
import { fleetRunLimits } from '../limits.ts';

/** Signals that end the waits of a view. Many commands share one, and each turn of the event loop aborts one. */
export class StopSignals {
  readonly #stops: AbortController[] = [];
  #begun = 0;
  #isOver = false;

  next(): AbortSignal {
    if (this.#begun % fleetRunLimits.begunPerTurn === 0) this.#stops.push(new AbortController());
    this.#begun += 1;
    const stop = this.#stops.at(-1) ?? new AbortController();
    if (this.#isOver) stop.abort();
    return stop.signal;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    const spend = createLoopTurns(1);
    for (const stop of this.#stops) {
      stop.abort();
      await spend(1);
    }
  }
}
