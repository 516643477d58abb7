import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buildDir } from './project.ts';

/**
 * Every process that a test starts has a file until it has ended: its start time in clock ticks since boot, then
 * pid and start time of the run that started it. The next run stops what a killed one left behind, and neither a
 * stranger who got the pid meanwhile nor a process of a run that is still alive.
 */
const recordDir = join(buildDir, 'processes');

/** The start time of a live process; undefined for one that is gone or a zombie. */
async function startTimeOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The second field, the program's name, may hold spaces: count from the closing parenthesis.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? undefined : fields[19];
}

export async function recordProcess(pid: number, what: string): Promise<void> {
  await mkdir(recordDir, { recursive: true });
  await writeFile(
    join(recordDir, String(pid)),
    `${await startTimeOf(pid)} ${process.pid} ${await startTimeOf(process.pid)} ${what}\n`,
  );
}

export async function forgetProcess(pid: number): Promise<void> {
  await rm(join(recordDir, String(pid)), { force: true });
}

/** Ends what earlier runs recorded and did not stop; gives back what it stopped. */
export async function stopLeftovers(): Promise<string[]> {
  const stopped: string[] = [];
  for (const name of await readdir(recordDir).catch(() => [] as string[])) {
    const pid = Number(name);
    const record = await readFile(join(recordDir, name), 'utf8').catch(() => '');
    const [started, runner, runnerStarted, ...what] = record.trim().split(' ');
    if (runnerStarted !== undefined && runnerStarted === (await startTimeOf(Number(runner)))) continue;
    if (started !== undefined && started === (await startTimeOf(pid))) {
      process.kill(pid, 'SIGKILL');
      stopped.push(`${pid} (${what.join(' ')})`);
    }
    await forgetProcess(pid);
  }
  return stopped;
}
