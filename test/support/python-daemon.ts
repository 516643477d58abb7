import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';

const root = join(import.meta.dirname, '../..');
const script = join(root, 'test/contract/edge-protocol/python/daemon.py');

/** The daemon in Python, which is written from docs/edge-protocol.md alone. */
export interface PythonDaemon {
  /** Starts it; its errors go to those of the test. */
  start(...args: string[]): ChildProcess;
  /** Runs it to its end: the exit code, and what it has written. */
  run(...args: string[]): Promise<{ readonly code: number; readonly text: string }>;
  /** Ends one that was started. */
  kill(child: ChildProcess): Promise<void>;
  /** Ends all that were started. */
  stop(): Promise<void>;
}

/**
 * Installs what it needs, once per machine, and makes the classes of its messages in the folder. `ca` is the file of the
 * authority of the relay; without it the daemon speaks plain text.
 */
export async function pythonDaemon(folder: string, ca?: string): Promise<PythonDaemon> {
  const run = promisify(execFile);
  const venv = (await run(join(root, 'dev/setup/edge-daemon'), { timeout: 600_000 })).stdout.trim();
  const python = join(venv, 'bin/python');
  const proto = join(root, 'proto');
  const outputs = [`--python_out=${folder}`, `--grpc_python_out=${folder}`];
  const node = join(proto, 'windlass/node/v1/node.proto');
  await run(python, ['-m', 'grpc_tools.protoc', '-I', proto, ...outputs, node]);
  const started = new Set<ChildProcess>();
  const start = (...args: string[]): ChildProcess => {
    const env = { ...process.env, PYTHONPATH: folder, ...(ca === undefined ? {} : { EDGE_CA: ca }) };
    const child = spawn(python, [script, ...args], { stdio: ['ignore', 'pipe', 'inherit'], env });
    started.add(child);
    return child;
  };
  const kill = async (child: ChildProcess): Promise<void> => {
    started.delete(child);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  };
  return {
    start,
    async run(...args) {
      const child = start(...args);
      let text = '';
      child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
      const [code] = (await once(child, 'close')) as [number];
      return { code, text };
    },
    kill,
    async stop() {
      for (const child of started) await kill(child);
    },
  };
}
