import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { isNativeCluster, kubeconfigPath } from '../../test/cluster/harness/cluster.ts';

/**
 * Runs work while the API server and etcd have the first processor for themselves as far as we go, and this process
 * has the others, with all that it starts meanwhile. A cluster elsewhere has processors of its own anyway.
 */
export async function besideApiServer<R>(work: () => Promise<R>): Promise<R> {
  if (!isNativeCluster()) return work();
  const last = availableParallelism() - 1;
  if (last === 0) throw new Error('one processor cannot be shared out: measure on a machine that has two');
  const controlPlane = await Promise.all([pidOf('apiserver'), pidOf('etcd')]);
  const place = async (controlPlaneOn: string, oursOn: string): Promise<void> => {
    for (const pid of controlPlane) await pin(pid, controlPlaneOn);
    await pin(process.pid, oursOn);
  };
  await place('0', `1-${last}`);
  try {
    return await work();
  } finally {
    await place(`0-${last}`, `0-${last}`);
  }
}

/** The cluster's scripts remember a program as its pid and its start time. */
async function pidOf(program: string): Promise<number> {
  const record = await readFile(join(dirname(kubeconfigPath()), 'run', `${program}.pid`), 'utf8');
  return Number(record.split(' ')[0]);
}

/** All threads; those that are made later inherit it. */
async function pin(pid: number, processors: string): Promise<void> {
  await promisify(execFile)('taskset', ['--all-tasks', '--cpu-list', '--pid', processors, String(pid)]);
}
