import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { fullJitter } from '../backoff.ts';
import { tryPaced } from '../retry.ts';
import { isConflict, isFailedTest, isInvalid } from './kube-error.ts';

/** Enough for 16 writers that meet each time; the pauses of all attempts are at most 5 s. */
const attempts = 20;
const pauses = { baseMs: 10, maxMs: 320 };
/** A rule may refuse what was right when it was read. A value that it refuses each time is wrong. */
const refusals = 5;

/**
 * Reads an object and writes what follows from it, again after a pause while others write in between. A stale version
 * in a merge patch answers 409, and a failed `test` of a JSON patch 422. @throws AppError `conflict` where others were
 * first each time. KubeError as the server refuses the value.
 */
export function whileRaced<T>(clock: Pick<Clock, 'sleep'>, readAndWrite: () => Promise<T>): Promise<T> {
  const pauseAfter = (error: unknown, failures: number): number => {
    const isRaced = isConflict(error) || isFailedTest(error);
    if (!isRaced && !(isInvalid(error) && failures < refusals)) throw error;
    if (failures < attempts) return fullJitter(pauses, failures - 1, Math.random());
    throw new AppError('conflict', 'others change it at the same time; try again', { cause: error });
  };
  return tryPaced({ clock, pauseAfter }, readAndWrite);
}
