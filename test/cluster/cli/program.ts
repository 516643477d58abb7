import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bundle } from '../../../dev/build/bundle.ts';
import { buildDir, projectDir } from '../harness/project.ts';

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Bytes of stdout, as they came. */
  readonly bytes: Buffer;
}

export interface Running {
  readonly child: ChildProcess;
  /** Its standard error so far. */
  readonly said: () => string;
  readonly result: Promise<Result>;
}

/** The program as it ships: bundled, which also starts much faster than from source. Gives the path of its main file. */
export async function bundleProgram(name: string): Promise<string> {
  const out = join(buildDir, name);
  await bundle({ root: projectDir, programs: { windlass: 'cli/main.ts' }, out });
  await writeFile(join(out, 'package.json'), '{"type":"module"}');
  return join(out, 'windlass.js');
}

/** Starts the program with nothing but this environment and, where it is given, this text to read. */
export function startProgram(main: string, args: readonly string[], env: NodeJS.ProcessEnv, input?: string): Running {
  const child = spawn(process.execPath, [main, ...args], { env, stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(input);
  const parts: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
  child.stdout.on('data', (chunk: Buffer) => parts.stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => parts.stderr.push(chunk));
  const said = (): string => Buffer.concat(parts.stderr).toString();
  const result = once(child, 'close').then(([code]: unknown[]) => {
    const bytes = Buffer.concat(parts.stdout);
    return { code: code as number | null, stdout: bytes.toString(), stderr: said(), bytes };
  });
  return { child, said, result };
}
