import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import process from 'node:process';
import { freePort } from '../../../test/cluster/harness/free-port.ts';
import { forgetProcess, recordProcess } from '../../../test/cluster/harness/process-record.ts';
import { buildDir, projectDir } from '../../../test/cluster/harness/project.ts';
import { pause } from '../../../test/cluster/harness/wait.ts';

/** A process that holds streams of daemons: the relay, or the bare server beside it. */
export interface StreamHolder {
  /** HOST:PORT for daemons; the same after a restart. */
  readonly address: string;
  readonly pid: number;
  /** Streams that are open now; 0 while the process does not answer. */
  open(): Promise<number>;
  /** Resolves to the milliseconds until so many streams were open. */
  holds(count: number, timeoutMs?: number): Promise<number>;
  /** Ends the process as Kubernetes does. */
  stop(): Promise<void>;
  /** Starts it again where it does not run, at the same ports; it does not serve yet. */
  start(): Promise<void>;
  /** Resolves when it serves. */
  answers(): Promise<void>;
}

interface HolderOptions {
  readonly name: string;
  /** Arguments of Node for these ports. */
  readonly args: (ports: HolderPorts) => readonly string[];
  readonly env: (ports: HolderPorts) => Readonly<Record<string, string>>;
}

interface HolderPorts {
  readonly port: number;
  /** Addresses of its pages, one of which names its streams as the relay's metrics do. */
  readonly pagesPort: number;
}

/** Each look renders all metrics of the relay, which takes its processor from the streams that open meanwhile. */
const pollMs = 500;

/** Starts the process and waits until it answers. */
export async function startHolder(options: HolderOptions): Promise<StreamHolder> {
  const holder = new Holder(options, { port: await freePort(), pagesPort: await freePort() });
  await holder.start();
  await holder.answers();
  return holder;
}

class Holder implements StreamHolder {
  readonly address: string;
  readonly #options: HolderOptions;
  readonly #ports: HolderPorts;
  #child: ChildProcess | undefined;

  constructor(options: HolderOptions, ports: HolderPorts) {
    this.#options = options;
    this.#ports = ports;
    this.address = `127.0.0.1:${ports.port}`;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  async start(): Promise<void> {
    const { name, args, env } = this.#options;
    const folder = join(buildDir, 'bench-edge');
    await mkdir(folder, { recursive: true });
    const log = createWriteStream(join(folder, `${name}.log`), { flags: 'a' });
    const child = spawn(process.execPath, args(this.#ports), {
      cwd: projectDir,
      env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env(this.#ports) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.pipe(log);
    child.stderr.pipe(log);
    await once(child, 'spawn');
    this.#child = child;
    await recordProcess(this.pid, name);
  }

  async answers(): Promise<void> {
    const end = performance.now() + 60_000;
    while ((await this.#page('ready')) === undefined) {
      if (this.#child?.exitCode !== null || performance.now() > end)
        throw new Error(`${this.#options.name} does not serve; see ${join(buildDir, 'bench-edge')}`);
      await pause(pollMs);
    }
  }

  async open(): Promise<number> {
    const text = (await this.#page('metrics')) ?? '';
    const counts = [...text.matchAll(/^windlass_relay_hosts\{[^}]*\} (\d+)$/gm)];
    return counts.reduce((sum, [, count]) => sum + Number(count), 0);
  }

  async holds(count: number, timeoutMs = 300_000): Promise<number> {
    const started = performance.now();
    for (let open = await this.open(); open !== count; open = await this.open()) {
      const passed = performance.now() - started;
      if (passed > timeoutMs) throw new Error(`${this.#options.name} holds ${open} streams of ${count}`);
      await pause(pollMs);
    }
    return performance.now() - started;
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (child === undefined) return;
    this.#child = undefined;
    const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGTERM');
    const hard = setTimeout(() => child.kill('SIGKILL'), 30_000);
    await gone;
    clearTimeout(hard);
    await forgetProcess(child.pid ?? 0);
  }

  async #page(name: string): Promise<string | undefined> {
    const answer = await fetch(`http://127.0.0.1:${this.#ports.pagesPort}/${name}`).catch(() => undefined);
    return answer?.ok === true ? answer.text() : undefined;
  }
}
