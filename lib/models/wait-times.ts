import type { Clock } from '../clock.ts';
import type { ModelLimit } from './metrics.ts';

/** Milliseconds, by the limit that kept questions waiting. */
export type WaitedMs = Readonly<Record<ModelLimit, number>>;

/** How long the first question of one tenant has waited, by the limit that kept it. */
export class WaitTimes {
  readonly #clock: Pick<Clock, 'steadyMs'>;
  readonly #waited: Record<ModelLimit, number> = { rest: 0, tokens: 0, concurrency: 0 };
  #limit: ModelLimit | undefined;
  #since = 0;

  constructor(clock: Pick<Clock, 'steadyMs'>) {
    this.#clock = clock;
  }

  /** From now on that limit keeps it waiting; undefined: none does. */
  keptBy(limit: ModelLimit | undefined): void {
    const now = this.#clock.steadyMs();
    if (this.#limit !== undefined) this.#waited[this.#limit] += now - this.#since;
    this.#limit = limit;
    this.#since = now;
  }

  read(): WaitedMs {
    this.keptBy(this.#limit);
    return { ...this.#waited };
  }
}

export const between = (before: WaitedMs, after: WaitedMs): WaitedMs => ({
  rest: after.rest - before.rest,
  tokens: after.tokens - before.tokens,
  concurrency: after.concurrency - before.concurrency,
});
