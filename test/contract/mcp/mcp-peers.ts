import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

export const projectDir = join(import.meta.dirname, '../../..');

/** Folder of the programs that dev/setup/mcp-peers installs. */
export async function installPeers(): Promise<string> {
  const { stdout } = await promisify(execFile)(join(projectDir, 'dev/setup/mcp-peers'), { timeout: 300_000 });
  return join(stdout.trim(), 'node_modules');
}

/** A program that runs until it is stopped. */
export interface Program {
  /** The first line that it wrote and that fits. */
  readonly line: string;
  stop(): Promise<void>;
}

interface ProgramOptions {
  /** The line that says that it is ready. */
  readonly ready: RegExp;
  readonly env?: Readonly<Record<string, string>>;
  /** Absent: Node. */
  readonly file?: string;
}

/** Starts a program and waits for the line that says that it is ready, on either of its outputs. */
export async function startProgram(
  args: readonly string[],
  { ready, env = {}, file = execPath }: ProgramOptions,
): Promise<Program> {
  const child = spawn(file, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  const line = await new Promise<string>((resolve, reject) => {
    const lines: string[] = [];
    for (const output of [child.stdout, child.stderr]) {
      createInterface(output).on('line', (text) => {
        lines.push(text);
        if (ready.test(text)) resolve(text);
      });
    }
    void ended.then(() => reject(new Error(`the program ended: ${lines.join('\n')}`)));
  });
  return {
    line,
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
