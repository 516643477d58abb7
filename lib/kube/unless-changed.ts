import { isAbsent, isConflict, isFailedTest } from './kube-error.ts';

/**
 * Awaits a write to an object that was read before. Gone, changed, or another object under the same name (a failed `test`
 * answers 422) counts as done: the watch brings what is new. A refusal of what is written does not.
 */
export async function unlessChanged(write: Promise<unknown>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!isAbsent(error) && !isConflict(error) && !isFailedTest(error)) throw error;
  }
}
