import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forgetProcess, recordProcess } from '../cluster/harness/process-record.ts';
import { programPath } from '../cluster/outputs/programs.ts';

/** A real nats-server on loopback with a store of its own. Only one of its processes runs at a time. */
export interface NatsServer {
  readonly url: string;
  /** Everything it has written so far. */
  output(): string;
  /** Starts it where it does not run, with the store that it left. */
  start(): Promise<void>;
  /** Ends it as a power cut would. */
  kill(): Promise<void>;
  /** Stops it between two instructions, and resumes it. Resolves when the last of its threads has stopped. */
  freeze(): Promise<void>;
  thaw(): void;
  /** Ends it and deletes its store. */
  stop(): Promise<void>;
}

interface NatsServerOptions {
  /** More command-line options, such as `--user` and `--pass`. */
  readonly args?: readonly string[];
  /** Address to listen on; default: loopback. */
  readonly host?: string;
}

/** Builds the server if need be, starts it, and waits until it takes connections. */
export async function startNatsServer({ args = [], host = '127.0.0.1' }: NatsServerOptions = {}): Promise<NatsServer> {
  const program = await programPath('nats-server');
  const store = await mkdtemp(join(tmpdir(), 'windlass-nats-'));
  const port = await freePort(host);
  let text = '';
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    if (child !== undefined) return;
    const from = text.length;
    const options = ['--addr', host, '--port', String(port), '--jetstream', '--store_dir', store, ...args];
    const started = spawn(program, options, { stdio: ['ignore', 'pipe', 'pipe'] });
    child = started;
    for (const stream of [started.stdout, started.stderr])
      stream.on('data', (chunk: Buffer) => (text += String(chunk)));
    await once(started, 'spawn');
    await recordProcess(started.pid ?? 0, program);
    const deadline = Date.now() + 30_000;
    while (!text.slice(from).includes('Server is ready')) {
      if (started.exitCode !== null || Date.now() > deadline) throw new Error(`nats-server does not work:\n${text}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async function kill(): Promise<void> {
    if (child === undefined) return;
    const { pid = 0 } = child;
    const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGKILL');
    await gone;
    child = undefined;
    await forgetProcess(pid);
  }

  async function freeze(): Promise<void> {
    const pid = child?.pid ?? 0;
    child?.kill('SIGSTOP');
    while (!(await isFrozen(pid))) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  await start();
  return {
    url: `nats://${host}:${port}`,
    output: () => text,
    start,
    kill,
    freeze,
    thaw: () => void child?.kill('SIGCONT'),
    async stop() {
      await kill();
      await rm(store, { recursive: true, force: true });
    },
  };
}

/** A thread that is under way continues for a moment after the signal was sent. */
async function isFrozen(pid: number): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`);
  const stats = await Promise.all(threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/stat`, 'utf8')));
  return stats.every((stat) => /\) T /.test(stat));
}

async function freePort(host: string): Promise<number> {
  const probe = createServer();
  const port = await new Promise<number>((resolve) => {
    probe.listen(0, host, () => resolve((probe.address() as { port: number }).port));
  });
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
