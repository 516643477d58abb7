import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { kubeconfigPath } from '../harness/cluster.ts';
import { programFile } from '../harness/program-file.ts';

interface CommandResult {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** Runs `windlass` as a user of a namespace, with further environment variables. */
export async function windlass(
  namespace: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<CommandResult> {
  const child = spawn(process.execPath, [programFile('windlass'), '-n', namespace, ...args], {
    env: { ...process.env, KUBECONFIG: kubeconfigPath(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr) };
}
