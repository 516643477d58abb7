import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../clock.ts';
import { startDeadline } from '../deadline.ts';
import { AppError } from '../errors.ts';
import { createFairPool, type FairPool } from '../fair-pool.ts';
import { type OpenApiReading, type PackedReading, unpackReading } from '../openapi-document/index.ts';
import type { ManifestReading, ReadingRequest } from './reading.ts';

/** Limits of reading manifests (design §11). */
export const readerLimits = {
  /** Threads: one tenant has one of them at most, so that another's manifest never waits for it alone. */
  threads: 2,
  /** Texts that wait, of all tenants together. */
  waiting: 100,
  /** For a turn: a request has half a minute in all. */
  waitMs: 20_000,
  /** For one text: fifty times what the largest legal definition takes, for a machine that is busy. */
  timeoutMs: 10_000,
  /** Time of the processor for one text. A thread that had less of it when the time is over had too small a share. */
  processorMs: 2_000,
  /** Heap of a thread; a text of the most tokens takes some 80 MiB. */
  heapMb: 192,
  /** The same for documents of APIs, which may have more tokens. */
  openApiHeapMb: 384,
  /** For a thread to be there. */
  startMs: 30_000,
  /** After so long without a text a thread gives its memory back, some 40 MiB. */
  idleMs: 300_000,
} as const;

/** Where the module `manifest-worker.ts` is, or what a bundle made of it. */
export const manifestWorker = { source: '../lib/manifest/manifest-worker.ts', bundled: 'manifest-worker.js' } as const;

/** Reads manifests in threads of their own: whatever a text makes its parser do, the event loop stays free. */
export interface ManifestReader {
  /**
   * Reads a workflow, or an object of the kind that `kind` names; of others than agents it tells the problems only. Resolves in the tenant's turn. @throws AppError `limit_exceeded` where the text takes too long or too much memory,
   * `unavailable` where too many wait, or the machine is too busy.
   */
  read(text: string, tenant: string, kind?: string): Promise<ManifestReading>;
  /** Ends the threads. */
  close(): Promise<void>;
}

/** The text of a document, or how to read it: a stored one is read in its turn, so that none waits in memory. */
type DocumentText = string | (() => Promise<string>);

/** Reads OpenAPI documents in threads of their own, with the bounds of manifests; errors are theirs too. */
export interface OpenApiReader {
  /** @throws what reading the text throws. */
  readOpenApi(text: DocumentText, tenant: string, serverUrl?: string): Promise<OpenApiReading>;
  /** Ends the threads. */
  close(): Promise<void>;
}

interface ReaderOptions {
  readonly clock: Clock;
  /** URL of the module that a thread runs. */
  readonly workerUrl: URL;
  readonly timeoutMs?: number;
  readonly processorMs?: number;
  readonly idleMs?: number;
  /** Heap of a thread in MiB. @default `readerLimits.heapMb` */
  readonly heapMb?: number;
}

export function createManifestReader(options: ReaderOptions): ManifestReader {
  return new ThreadedReader(options);
}

/** For documents of APIs, which are larger than any manifest. */
export function createOpenApiReader(options: ReaderOptions): OpenApiReader {
  return new ThreadedReader({ heapMb: readerLimits.openApiHeapMb, ...options });
}

class ThreadedReader implements ManifestReader, OpenApiReader {
  readonly #options: ReaderOptions;
  readonly #turns: FairPool;
  /** Threads without a text, the one used last at the end, each with the end of its rest. */
  readonly #idle: { readonly worker: Worker; readonly wake: AbortController }[] = [];
  readonly #all = new Set<Worker>();

  constructor(options: ReaderOptions) {
    this.#options = options;
    const { threads: size, waiting, waitMs } = readerLimits;
    this.#turns = createFairPool({ size, waiting, waitMs, clock: options.clock });
  }

  read(text: string, tenant: string, kind = 'Workflow'): Promise<ManifestReading> {
    const isDefinition = kind === 'Workflow' || kind === 'Agent';
    const request: ReadingRequest = isDefinition ? { kind, text } : { kind: 'Resource', text, of: kind };
    return this.#reading(async () => request, tenant);
  }

  async readOpenApi(document: DocumentText, tenant: string, serverUrl?: string): Promise<OpenApiReading> {
    const requestOf = async (): Promise<ReadingRequest> => {
      const text = typeof document === 'string' ? document : await document();
      return { kind: 'OpenApi', text, serverUrl };
    };
    return unpackReading(await this.#reading<PackedReading>(requestOf, tenant));
  }

  /** `R` is what `manifest-worker.ts` answers requests of this kind with. */
  async #reading<R>(requestOf: () => Promise<ReadingRequest>, tenant: string): Promise<R> {
    using _turn = await this.#turns.enter({ tenant });
    const request = await requestOf();
    const worker = this.#wake() ?? (await this.#start());
    try {
      const reading = await this.#ask<R>(worker, request);
      this.#rest(worker);
      return reading;
    } catch (cause) {
      void this.#end(worker);
      throw cause instanceof AppError ? cause : tooCostly(cause);
    }
  }

  async close(): Promise<void> {
    for (const { wake } of this.#idle.splice(0)) wake.abort();
    await Promise.all([...this.#all].map((worker) => this.#end(worker)));
  }

  #wake(): Worker | undefined {
    const idle = this.#idle.pop();
    idle?.wake.abort();
    return idle?.worker;
  }

  async #start(): Promise<Worker> {
    const { clock, workerUrl } = this.#options;
    const worker = new Worker(workerUrl, {
      resourceLimits: {
        maxOldGenerationSizeMb: this.#options.heapMb ?? readerLimits.heapMb,
        maxYoungGenerationSizeMb: 16,
      },
    });
    this.#all.add(worker);
    // The next text finds an error that occurs with none under way.
    worker.on('error', () => undefined).once('exit', () => this.#all.delete(worker));
    using deadline = startDeadline(clock, readerLimits.startMs);
    try {
      await once(worker, 'message', { signal: deadline.signal });
      return worker;
    } catch (cause) {
      void this.#end(worker);
      throw new AppError('unavailable', 'no thread for the manifest has started; try again', { cause });
    }
  }

  async #ask<R>(worker: Worker, request: ReadingRequest): Promise<R> {
    using deadline = startDeadline(this.#options.clock, this.#options.timeoutMs ?? readerLimits.timeoutMs);
    const before = await processorMsOf(worker);
    const answered = once(worker, 'message', { signal: deadline.signal });
    worker.postMessage(request);
    try {
      const [reading] = (await answered) as [R];
      return reading;
    } catch (cause) {
      const most = this.#options.processorMs ?? readerLimits.processorMs;
      if (deadline.signal.aborted && (await processorMsOf(worker)) - before < most) throw tooBusy(cause);
      throw cause;
    }
  }

  #rest(worker: Worker): void {
    const wake = new AbortController();
    const entry = { worker, wake };
    this.#idle.push(entry);
    void this.#options.clock.sleep(this.#options.idleMs ?? readerLimits.idleMs, wake.signal).then(() => {
      const index = this.#idle.indexOf(entry);
      if (index < 0) return;
      this.#idle.splice(index, 1);
      void this.#end(worker);
    });
  }

  async #end(worker: Worker): Promise<void> {
    this.#all.delete(worker);
    await worker.terminate();
  }
}

/** Time of the processor that a thread has had, also while it works; infinite where it has ended. */
async function processorMsOf(worker: Worker): Promise<number> {
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1000;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

const tooBusy = (cause: unknown): AppError =>
  new AppError('unavailable', 'this replica is too busy to read the manifest; try again', { cause });

const tooCostly = (cause: unknown): AppError =>
  new AppError('limit_exceeded', 'reading the manifest takes too long or too much memory; make it smaller', {
    reason: 'ManifestTooCostly',
    cause,
  });
