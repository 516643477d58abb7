import type { Clock } from './clock.ts';
import { type BackoffLimits, exponential } from './backoff.ts';

/**
 * Tries again at once after a failure that `isWorthAnother`, up to `times` in all: for what another writer, or a name that is
 * taken, made fail. `attempt` hears its number, from 1. @throws the last error, or the first that is not worth another.
 */
export async function tryAgain<T>(
  times: number,
  isWorthAnother: (error: unknown) => boolean,
  attempt: (number: number) => Promise<T>,
): Promise<T> {
  for (let number = 1; ; number += 1) {
    try {
      return await attempt(number);
    } catch (error) {
      if (!isWorthAnother(error) || number >= times) throw error;
    }
  }
}

/**
 * The first answer of up to `times` attempts, such as writes that answer nothing where another writer was first. Undefined
 * where no attempt had one. `attempt` hears its number, from 1.
 */
export async function firstAnswer<T>(
  times: number,
  attempt: (number: number) => Promise<T | undefined>,
): Promise<T | undefined> {
  for (let number = 1; number <= times; number += 1) {
    const answer = await attempt(number);
    if (answer !== undefined) return answer;
  }
  return undefined;
}

interface DoublingPauses extends BackoffLimits {
  /** Attempts in all. Absent: no bound. */
  readonly times?: number;
}

/**
 * The pauses of `tryPaced` for as long as `mayPass` holds, up to the last of all attempts. Each is twice the one before, from
 * the base up to the maximum.
 */
export const doublingWhile =
  ({ times = Infinity, ...limits }: DoublingPauses, mayPass: (error: unknown) => boolean = () => true) =>
  (error: unknown, failures: number): number => {
    if (failures >= times || !mayPass(error)) throw error;
    return exponential(limits, failures - 1);
  };

interface Pace {
  readonly clock: Pick<Clock, 'sleep'>;
  /**
   * Milliseconds to wait before the next attempt, after `failures` of them, the last with `error`. Throws where there is to be
   * none.
   */
  readonly pauseAfter: (error: unknown, failures: number) => number;
  /** Ends the waits. */
  readonly signal?: AbortSignal;
}

/**
 * Tries again after a pause for as long as `pauseAfter` names one; not at all where `signal` has aborted before.
 * @throws what `pauseAfter` throws; the reason of `signal`.
 */
export async function tryPaced<T>({ clock, pauseAfter, signal }: Pace, attempt: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      await clock.sleep(pauseAfter(error, failures), signal);
    }
  }
}
