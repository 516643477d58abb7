import { pause } from '../../../test/cluster/harness/wait.ts';
import { startBenchApi } from '../api.ts';
import type { BenchCluster } from '../bench-cluster.ts';
import { load } from '../load.ts';
import { residentMiB } from '../machine.ts';
import type { Program } from '../program.ts';
import { readOf, waitingExecution } from '../waiting-execution.ts';

const batch = 10_000;
const batches = 10;

/** Resident memory of a new process that has done nothing for ten seconds, and after each of ten batches of reads. */
async function readings(bench: BenchCluster): Promise<{ readonly idle: number; readonly after: readonly number[] }> {
  const id = await waitingExecution(bench);
  const api = await startBenchApi(bench);
  try {
    await pause(10_000);
    const idle = await residentMiB(api.pid);
    const after: number[] = [];
    while (after.length < batches) {
      await load({ url: readOf(api, id), token: api.token, until: { requests: batch } });
      after.push(await residentMiB(api.pid));
    }
    return { idle, after };
  } finally {
    await api.stop();
  }
}

const title = (count: number): string => count.toLocaleString('en');

export const apiMemory: Program = {
  name: 'api-memory',
  title: `API memory, idle and during ${title(batch * batches)} reads`,
  unit: 'MiB',
  bar: { of: 'ours', atMost: 150 },
  async measure(bench) {
    const { idle, after } = await readings(bench);
    const named = after.map((value, index) => [`MiB after ${title(batch * (index + 1))}`, Math.round(value)] as const);
    return { ours: Math.max(idle, ...after), extra: { 'MiB idle': Math.round(idle), ...Object.fromEntries(named) } };
  },
};

/** The first batches load and compile what all of them use; from then on nothing of a request may stay. */
const warm = 3;

export const apiMemoryGrowth: Program = {
  name: 'api-memory-growth',
  title: `what the last ${title(batch * (batches - warm))} of ${title(batch * batches)} reads add to the API's memory`,
  unit: 'MiB',
  bar: { of: 'ours', atMost: 5 },
  async measure(bench) {
    const { after } = await readings(bench);
    return { ours: (after.at(-1) ?? Number.NaN) - (after[warm - 1] ?? Number.NaN) };
  },
};
