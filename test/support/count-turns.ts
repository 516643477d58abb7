import { setImmediate } from 'node:timers/promises';

/** How many turns of the event loop others get while the task runs. */
export async function countTurns(task: () => Promise<unknown>): Promise<number> {
  const over = new AbortController();
  let turns = 0;
  const count = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await setImmediate();
      turns += 1;
    }
  };
  const counting = count();
  await task();
  over.abort();
  const counted = turns;
  await counting;
  return counted;
}
