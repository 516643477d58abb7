import type { Clock } from '../clock.ts';
import { modelLimits } from './limits.ts';

/**
 * Time that a request may take in all its attempts (`ModelRequest.withinMs`). The wait for the turn at a provider takes nothing of
 * it: how long that is depends on the requests of others.
 */
export interface Allowance {
  /** Milliseconds of the next attempt: what is left, and no more than one attempt ever has. */
  readonly attemptMs: number;
  /** Whether that is less than one attempt ever has: its end is then the caller's wish, and no failure of the provider. */
  readonly isCallers: boolean;
  /** Whether a pause of so many milliseconds would take all that is left. */
  endsWithin(ms: number): boolean;
  spend(ms: number): void;
  /** Spends the time until it is disposed of. */
  running(clock: Pick<Clock, 'steadyMs'>): Disposable;
}

export function createAllowance(withinMs: number = Number.POSITIVE_INFINITY): Allowance {
  let left = withinMs;
  const spend = (ms: number): void => {
    left = Math.max(0, left - ms);
  };
  return {
    get attemptMs() {
      return Math.min(left, modelLimits.requestMs);
    },
    get isCallers() {
      return left < modelLimits.requestMs;
    },
    endsWithin: (ms) => left <= ms,
    spend,
    running(clock) {
      const from = clock.steadyMs();
      return { [Symbol.dispose]: () => spend(clock.steadyMs() - from) };
    },
  };
}
