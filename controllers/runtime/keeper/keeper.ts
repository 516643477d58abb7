import { Worker } from 'node:worker_threads';
import { aborted } from '../../../lib/aborted.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Logger, LogLevel } from '../../../lib/logger.ts';
import type { PageSource } from '../../../lib/process/health-server.ts';
import { createHeartbeat, heartbeatMemory, keepBeating, silentMostMs } from '../../../lib/process/heartbeat.ts';
import type { ElectionEnd, LeaseElection } from '../lease-election.ts';
import { createFence, type Fence, type LeaseTiming, leaseTiming, sharedTenure, tenureMemory } from '../tenure.ts';
import type { ElectionData, FromKeeper, KeeperData, ToKeeper } from './messages.ts';

interface KeeperDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

interface KeeperOptions {
  /** The module of the thread: `thread.ts`, or what it was bundled into. */
  readonly file: string;
  readonly port: number;
  /** Default: all addresses. */
  readonly host?: string;
  /** Beside `/healthz`, which the thread answers itself, by path. They are made in the main loop. */
  readonly pages: Readonly<Record<string, PageSource>>;
  readonly election?: Omit<ElectionData, keyof LeaseTiming> & Partial<LeaseTiming>;
  readonly logLevel: LogLevel;
  /** Default 15 s. */
  readonly silentMostMs?: number;
}

/** The thread that keeps the Lease and answers for the health of the process (ADR 0035). */
export interface Keeper {
  /** Where health is served. */
  readonly port: number;
  /** Its fence is decided in the calling thread, from what the other one has written down of its renewals. */
  readonly election: LeaseElection;
  close(): Promise<void>;
}

/** Rejects where the port is taken. */
export async function startKeeper(deps: KeeperDeps, options: KeeperOptions): Promise<Keeper> {
  const keeper = new ThreadKeeper(deps, options);
  const port = await keeper.start();
  return {
    port,
    election: { ...keeper.fence, run: (stop, onStarted) => keeper.compete(stop, onStarted) },
    close: () => keeper.close(),
  };
}

/** Deaths of the thread that are made good; one more ends the process, which is the last thing left to try. */
const deathsMost = 5;
/** After as long a life as this, in milliseconds, earlier deaths of threads say nothing about the next one. */
const longLifeMs = 10 * 60_000;
/** Before another thread begins; doubles with each death. Well below what a lease has left. */
const restartMs = 250;
/** The thread does little and must not grow beside the main heap. Credential plugins alone bring 90 MB. */
const resourceLimits = { maxOldGenerationSizeMb: 160, maxYoungGenerationSizeMb: 8 };

/** The last request to the thread, which its successor has to continue. */
type Task = 'none' | 'compete' | 'resume' | 'release';

class ThreadKeeper {
  readonly fence: Fence;
  readonly #deps: KeeperDeps;
  readonly #options: KeeperOptions;
  readonly #data: KeeperData;
  readonly #closing = new AbortController();
  readonly #listening = Promise.withResolvers<number>();
  readonly #ended = Promise.withResolvers<ElectionEnd>();
  #onStarted: () => void = () => undefined;
  #worker: Worker | undefined;
  #task: Task = 'none';
  #deaths = 0;
  /** Since when the thread of now serves health. */
  #listeningAt: number | undefined;

  constructor(deps: KeeperDeps, options: KeeperOptions) {
    const { election, pages, port, host, logLevel } = options;
    const timing = { ...leaseTiming, ...election };
    this.#deps = deps;
    this.#options = options;
    this.#data = {
      heartbeat: heartbeatMemory(),
      tenure: tenureMemory(),
      health: { port, host },
      paths: Object.keys(pages),
      election: election === undefined ? undefined : { ...timing, ...election },
      silentMostMs: options.silentMostMs ?? silentMostMs,
      logLevel,
    };
    this.fence = createFence({
      tenure: sharedTenure(this.#data.tenure),
      clock: deps.clock,
      renewMs: timing.renewMs,
    });
  }

  start(): Promise<number> {
    void keepBeating(createHeartbeat(this.#data.heartbeat, this.#deps.clock), this.#deps.clock, this.#closing.signal);
    this.#spawn();
    return this.#listening.promise;
  }

  async compete(stop: AbortSignal, onStarted: () => void = () => undefined): Promise<ElectionEnd> {
    this.#onStarted = onStarted;
    this.#ask('compete');
    void aborted(stop).then(() => this.#ask('release'));
    return this.#ended.promise;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#worker?.terminate();
  }

  #spawn(): void {
    const worker = new Worker(this.#options.file, { workerData: this.#data, resourceLimits });
    this.#worker = worker;
    worker.on('message', (message: FromKeeper) => this.#take(message));
    worker.on('error', (err) => this.#deps.logger.error({ err }, 'keeper thread failed'));
    worker.on('exit', () => void this.#replace());
    if (this.#task !== 'none') this.#send({ kind: this.#task });
  }

  /** The fence stays as it is: what the dead thread has renewed is valid for as long as it was. */
  async #replace(): Promise<void> {
    const { clock, logger } = this.#deps;
    if (this.#closing.signal.aborted) return;
    // No thread is left to release the lease; it expires.
    if (this.#task === 'release') return this.#ended.resolve('stopped');
    if (clock.steadyMs() - (this.#listeningAt ?? clock.steadyMs()) >= longLifeMs) this.#deaths = 0;
    this.#listeningAt = undefined;
    this.#deaths += 1;
    logger.warn({ deaths: this.#deaths }, 'keeper thread ended');
    if (this.#deaths > deathsMost) return this.#giveUp();
    await clock.sleep(restartMs * 2 ** (this.#deaths - 1), this.#closing.signal);
    if (!this.#closing.signal.aborted) this.#spawn();
  }

  #giveUp(): void {
    this.#listening.reject(new Error('the keeper thread cannot be started'));
    this.#ended.resolve('lost');
  }

  #ask(task: Exclude<Task, 'none'>): void {
    this.#task = task;
    this.#send({ kind: task });
  }

  #take(message: FromKeeper): void {
    switch (message.kind) {
      case 'listening':
        this.#listeningAt = this.#deps.clock.steadyMs();
        return this.#listening.resolve(message.port);
      case 'failed':
        return this.#listening.reject(message.error);
      case 'leading':
        if (this.#task === 'compete') this.#task = 'resume';
        return this.#onStarted();
      case 'ended':
        return this.#ended.resolve(message.end);
      case 'ask':
        return void this.#answer(message.id, message.path);
    }
  }

  async #answer(id: number, path: string): Promise<void> {
    const source = this.#options.pages[path];
    try {
      const page = (await source?.()) ?? { status: 404, text: 'not found\n' };
      this.#send({ kind: 'page', id, page });
    } catch {
      this.#send({ kind: 'page', id, page: { status: 500, text: 'the answer could not be made\n' } });
    }
  }

  #send(message: ToKeeper): void {
    this.#worker?.postMessage(message);
  }
}
