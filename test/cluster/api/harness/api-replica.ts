import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { freePort } from '../../harness/free-port.ts';
import { programFile } from '../../harness/program-file.ts';
import { forgetProcess, recordProcess } from '../../harness/process-record.ts';
import { buildDir, projectDir } from '../../harness/project.ts';

interface ApiReplicaOptions {
  /** Names the log file. */
  readonly name: string;
  readonly env: Readonly<Record<string, string>>;
  /** Default: as `programFile` says. */
  readonly program?: string;
}

/** One process of the API. It keeps its ports when it is started again. */
export interface ApiReplica {
  /** Base address of the public listener. */
  readonly url: string;
  /** Base address of the internal listener: /ready and /metrics. */
  readonly internalUrl: string;
  readonly pid: number;
  readonly logFile: string;
  /** The process can read text that is written here. */
  readonly stdin: Writable;
  /** Starts it where it does not run, and waits until it serves. */
  start(): Promise<void>;
  /** Any signal to exactly this process. */
  signal(name: NodeJS.Signals): void;
  /** SIGKILL: the process ends without a goodbye. */
  kill(): Promise<void>;
  /** SIGTERM, and SIGKILL after thirty seconds. Resolves to the exit code; null after a SIGKILL. */
  stop(): Promise<number | null>;
  exited(): boolean;
}

const START_MS = 60_000;

export async function startApiReplica(options: ApiReplicaOptions): Promise<ApiReplica> {
  const replica = new Replica(options, await freePort(), await freePort());
  await replica.start();
  return replica;
}

class Replica implements ApiReplica {
  readonly url: string;
  readonly internalUrl: string;
  readonly logFile: string;
  readonly #program: string;
  readonly #env: NodeJS.ProcessEnv;
  #child: ChildProcess | undefined;

  constructor({ name, env, program }: ApiReplicaOptions, port: number, internalPort: number) {
    this.url = `http://127.0.0.1:${port}`;
    this.internalUrl = `http://127.0.0.1:${internalPort}`;
    this.logFile = join(buildDir, 'api', `${name}-${process.pid}-${port}.log`);
    this.#program = program ?? programFile('api');
    this.#env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      WINDLASS_HTTP_HOST: '127.0.0.1',
      WINDLASS_HTTP_PORT: String(port),
      WINDLASS_INTERNAL_PORT: String(internalPort),
      // No sender of requests has to hear of a stop first.
      WINDLASS_DRAIN_SECONDS: '0',
      WINDLASS_LOG_LEVEL: 'debug',
      ...env,
    };
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get stdin(): Writable {
    const { stdin } = this.#child ?? {};
    if (stdin === undefined || stdin === null) throw new Error('the replica does not run');
    return stdin;
  }

  async start(): Promise<void> {
    if (!this.exited()) return;
    await mkdir(join(buildDir, 'api'), { recursive: true });
    const log = await open(this.logFile, 'a');
    const child = spawn(process.execPath, [this.#program], {
      cwd: projectDir,
      env: this.#env,
      // Straight to the file: each act of the process is in the file by the time it is read.
      stdio: ['pipe', log.fd, log.fd],
    });
    this.#child = child;
    // A write may meet a process that has just ended.
    child.stdin?.on('error', () => undefined);
    await once(child, 'spawn');
    await log.close();
    const pid = child.pid ?? 0;
    await recordProcess(pid, 'api');
    child.on('exit', () => void forgetProcess(pid));
    await this.#ready();
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async stop(): Promise<number | null> {
    const hard = setTimeout(() => this.#child?.kill('SIGKILL'), 30_000);
    await this.#end('SIGTERM');
    clearTimeout(hard);
    return this.#child?.exitCode ?? null;
  }

  exited(): boolean {
    return this.#child === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  async #end(name: NodeJS.Signals): Promise<void> {
    if (this.#child === undefined || this.exited()) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill(name);
    await gone;
  }

  /** A process has no watch: its own answer is the only sign of being ready. */
  async #ready(): Promise<void> {
    const deadline = Date.now() + START_MS;
    while (!(await answers(`${this.internalUrl}/ready`))) {
      if (this.exited()) throw new Error(`the API ended while starting; see ${this.logFile}`);
      if (Date.now() > deadline) throw new Error(`the API was not ready in time; see ${this.logFile}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    (response) => response.ok,
    () => false,
  );
}
