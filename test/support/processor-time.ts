import process from 'node:process';

/** Processor time of this thread for the task, in microseconds: other processes of the machine take nothing of it. */
export async function processorTime(task: () => unknown): Promise<number> {
  const begun = process.threadCpuUsage();
  await task();
  const { user, system } = process.threadCpuUsage(begun);
  return user + system;
}

/** Below it the time of a task is in proportion to its size: that would be one, and ten where it is quadratic. */
export const proportional = 4;

/** Some systems count the time of a thread in steps of several milliseconds. */
const enough = 100_000;

/**
 * Processor time of a task as a multiple of another's. Both take turns until the cheaper one has taken enough time to be
 * compared, so that the steps of the clock and neighbours of the machine count for both.
 */
export async function costRatio(dear: () => unknown, cheap: () => unknown): Promise<number> {
  // The first runs compile.
  await dear();
  await cheap();
  let [cheapTime, dearTime] = [0, 0];
  while (cheapTime < enough) {
    cheapTime += await processorTime(cheap);
    dearTime += await processorTime(dear);
  }
  return dearTime / cheapTime;
}

/** Processor time of a task over ten times `size`, as a multiple of ten tasks over `size`. */
export function growthOf(size: number, task: (size: number) => unknown): Promise<number> {
  return costRatio(
    () => task(10 * size),
    async () => {
      for (let run = 0; run < 10; run += 1) await task(size);
    },
  );
}
