import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { forgetProcess, recordProcess } from './process-record.ts';
import { programFile } from './program-file.ts';
import { buildDir, projectDir } from './project.ts';

interface ControllersOptions {
  /** Kubeconfig of the API server, or of a proxy before it. */
  readonly kubeconfig: string;
  /** Names the log file. */
  readonly name: string;
  /** Further settings, WINDLASS_…; they win over the harness's own. */
  readonly env?: Readonly<Record<string, string>>;
}

/** One controller process of this source. */
export interface Controllers {
  readonly pid: number;
  /** Base address of /healthz, /readyz and /metrics. */
  readonly url: string;
  readonly logFile: string;
  /** Resolves once the process serves /readyz. */
  ready(timeoutMs?: number): Promise<void>;
  /** Any signal to exactly this process. */
  signal(name: NodeJS.Signals): void;
  /** SIGKILL: the process ends without a goodbye. */
  kill(): Promise<void>;
  /** SIGTERM, and SIGKILL after ten seconds. */
  stop(): Promise<void>;
  exited(): boolean;
}

let started = 0;

/**
 * Settings of a controller process under test; the port is unique in this run. It leads from the start,
 * since it is alone; tests of elections say otherwise.
 */
function environment(options: ControllersOptions, port: number): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    KUBECONFIG: options.kubeconfig,
    WINDLASS_HTTP_PORT: String(port),
    WINDLASS_RUNNER_IMAGE: 'windlass.local/runner:dev',
    WINDLASS_LEADER_ELECT: 'false',
    ...options.env,
  };
}

export async function startControllers(options: ControllersOptions): Promise<Controllers> {
  const logDir = join(buildDir, 'controllers');
  await mkdir(logDir, { recursive: true });
  const number = ++started;
  // Below 32768, where Linux begins to number the connections that it makes.
  const port = 20_000 + (process.pid % 12_000) + number;
  const logFile = join(logDir, `${options.name}-${process.pid}-${number}.log`);
  const log = createWriteStream(logFile);
  const child = spawn(process.execPath, [programFile('controllers')], {
    cwd: projectDir,
    env: environment(options, port),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.pipe(log);
  child.stderr.pipe(log);
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  await recordProcess(pid, `controllers ${options.name}`);
  child.on('exit', () => void forgetProcess(pid));
  return handle(child, { pid, url: `http://127.0.0.1:${port}`, logFile });
}

function handle(child: ChildProcess, facts: Pick<Controllers, 'pid' | 'url' | 'logFile'>): Controllers {
  const exited = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const end = async (name: NodeJS.Signals): Promise<void> => {
    if (exited()) return;
    const gone = once(child, 'exit');
    child.kill(name);
    await gone;
  };
  return {
    ...facts,
    exited,
    signal: (name) => void child.kill(name),
    kill: () => end('SIGKILL'),
    async stop() {
      const hard = setTimeout(() => child.kill('SIGKILL'), 10_000);
      await end('SIGTERM');
      clearTimeout(hard);
    },
    async ready(timeoutMs = 30_000) {
      const deadline = Date.now() + timeoutMs;
      while (!(await answers(`${facts.url}/readyz`))) {
        if (exited()) throw new Error(`the controllers ended while starting; see ${facts.logFile}`);
        if (Date.now() > deadline) throw new Error(`the controllers were not ready in time; see ${facts.logFile}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  };
}

/** A process has no watch: its own answer is the only sign of being ready. */
async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    (response) => response.ok,
    () => false,
  );
}
