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
 * Processor time of a task over ten times `size`, as a multiple of ten tasks over `size`. Both are repeated until they have
 * taken enough time to be compared.
 */
export async function growthOf(size: number, task: (size: number) => unknown): Promise<number> {
  // The first runs compile.
  await task(size);
  await task(10 * size);
  let [small, large] = [0, 0];
  while (small < enough) {
    small += await processorTime(async () => {
      for (let run = 0; run < 10; run += 1) await task(size);
    });
    large += await processorTime(() => task(10 * size));
  }
  return large / small;
}
