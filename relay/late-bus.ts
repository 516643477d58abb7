import type { EventBus } from '../lib/bus/index.ts';
import type { Clock } from '../lib/clock.ts';
import { AppError } from '../lib/errors.ts';
import { tryAgain, tryPaced } from '../lib/retry.ts';

const attempts = 5;

/** How long a message of a daemon waits for a bus that is away: as long as its stream does (`watchOver`). */
export const gapMs = 10_000;
const gapPauseMs = 250;

const isUnavailable = (error: unknown): boolean => error instanceof AppError && error.code === 'unavailable';

/** Whether a bus that is there did not answer in time: thousands of daemons that come at once keep the relay from hearing it. */
export const isLate = (bus: Pick<EventBus, 'problem'>, error: unknown): boolean =>
  isUnavailable(error) && bus.problem() === undefined;

/**
 * Asks a bus again that is there and answers late. A refused stream or call has its daemon connect anew, which costs more than the
 * message. `attempt` does the same each time.
 */
export const retryWhileLate = <T>(bus: Pick<EventBus, 'problem'>, attempt: () => Promise<T>): Promise<T> =>
  tryAgain(attempts, (error) => isLate(bus, error), attempt);

interface GapDeps {
  readonly clock: Clock;
  readonly bus: Pick<EventBus, 'problem'>;
}

/**
 * The same, and waits for a bus that is away for a moment, from the first attempt on that finds it away. An overloaded machine loses
 * the connection to it, and each stream that ended then would be opened anew on top of that.
 */
export function throughGaps<T>({ clock, bus }: GapDeps, attempt: () => Promise<T>): Promise<T> {
  let until: number | undefined;
  const pauseAfter = (error: unknown): number => {
    if (!isUnavailable(error) || bus.problem() === undefined) throw error;
    until ??= clock.steadyMs() + gapMs;
    if (clock.steadyMs() >= until) throw error;
    return gapPauseMs;
  };
  return tryPaced({ clock, pauseAfter }, () => retryWhileLate(bus, attempt));
}
