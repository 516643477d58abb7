import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { forgetProcess, recordProcess } from '../harness/process-record.ts';

/** A third-party server that a test starts and stops. */
export interface Daemon {
  /** Everything it has written so far. */
  output(): string;
  stop(): Promise<void>;
}

interface DaemonOptions {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Answers true once the server works. */
  readonly ready: () => Promise<boolean>;
}

/** Starts a server and waits until it works; throws with its output where it does not within 30 s. */
export async function startDaemon({ program, args, env = {}, ready }: DaemonOptions): Promise<Daemon> {
  const child = spawn(program, [...args], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += chunk.toString()));
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  await recordProcess(pid, program);
  child.on('exit', () => void forgetProcess(pid));
  const daemon = { output: () => text, stop: () => stop(child) };
  const deadline = Date.now() + 30_000;
  while (!(await ready().catch(() => false))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await daemon.stop();
      throw new Error(`${program} does not work:\n${text}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return daemon;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const hard = setTimeout(() => child.kill('SIGKILL'), 5_000);
  await gone;
  clearTimeout(hard);
}
