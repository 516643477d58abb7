import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Finished {
  readonly code: number;
  readonly text: string;
}

/** The program of a daemon and a folder of its own for what it keeps. */
export interface DaemonProgram extends AsyncDisposable {
  readonly folder: string;
  /** Starts it with these arguments and the state folder. */
  start(...args: string[]): ChildProcess;
  /** Runs it to its end; both outputs together. */
  run(...args: string[]): Promise<Finished>;
}

/** `command` starts the daemon: a program and its first words. */
export async function daemonProgram(
  command: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<DaemonProgram> {
  const folder = await mkdtemp(join(tmpdir(), 'edge-'));
  const started: ChildProcess[] = [];
  const [program = '', ...words] = command;
  const start = (...args: string[]): ChildProcess => {
    const child = spawn(program, [...words, ...args, '--state', join(folder, 'state')], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    started.push(child);
    return child;
  };
  return {
    folder,
    start,
    async run(...args) {
      const child = start(...args);
      let text = '';
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
      const [code] = (await once(child, 'close')) as [number];
      return { code, text };
    },
    async [Symbol.asyncDispose]() {
      for (const child of started) {
        const ended = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
        child.kill('SIGKILL');
        await ended;
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
