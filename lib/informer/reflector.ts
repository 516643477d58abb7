import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import {
  isGone,
  KubeError,
  type KubeObject,
  type ListWatchPort,
  type ObjectEvent,
  type Resource,
} from '../kube/index.ts';
import type { Logger } from '../logger.ts';
import { fullJitter } from './backoff.ts';
import { createWatchdog } from './watchdog.ts';

/** Where the reflector puts what it learns. A throw is logged and counted, and the stream goes on. */
export interface ReflectorSink<T extends KubeObject> {
  /** One page of a list under way: may drop what need not be kept before the next page comes. */
  page(items: readonly T[]): readonly T[];
  /** The world as of `resourceVersion`. */
  replaceAll(objects: readonly T[], resourceVersion: string): void;
  apply(event: ObjectEvent<T>): void;
}

/** Told what happens; must not throw. */
export interface ReflectorObserver {
  /** A list or watch ended in an error, by its reason. */
  failed(reason: string): void;
  /** The sink threw. */
  sinkFailed(): void;
}

export interface ReflectorDeps {
  readonly client: ListWatchPort;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Uniform in [0, 1). Default Math.random. */
  readonly random?: () => number;
  readonly observer?: ReflectorObserver;
}

export interface ReflectorOptions<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly sink: ReflectorSink<T>;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Keeps a sink in step with one kind on the server, whatever happens to the connection. */
export interface Reflector {
  /** Lists and watches until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves after the first complete list has reached the sink. */
  readonly synced: Promise<void>;
  readonly hasSynced: boolean;
}

const PAGE = 500;
/** A watch lasts a random time in this range, so that the watches of a process do not end together. */
const WATCH_SECONDS = { least: 290, most: 590 } as const;
const BACKOFF = { baseMs: 250, maxMs: 30_000 } as const;
/** A watch that ends sooner than this and brought nothing did not work. */
const SHORTEST_HEALTHY_MS = 1_000;

export function createReflector<T extends KubeObject>(deps: ReflectorDeps, options: ReflectorOptions<T>): Reflector {
  return new ListWatchReflector(deps, options);
}

class ListWatchReflector<T extends KubeObject> implements Reflector {
  readonly synced: Promise<void>;
  hasSynced = false;
  readonly #deps: ReflectorDeps;
  readonly #options: ReflectorOptions<T>;
  readonly #logger: Logger;
  readonly #random: () => number;
  #markSynced: () => void = () => undefined;
  /** Where the next watch begins; undefined: list first. */
  #version: string | undefined;
  #failures = 0;

  constructor(deps: ReflectorDeps, options: ReflectorOptions<T>) {
    this.#deps = deps;
    this.#options = options;
    this.#logger = deps.logger.child({ kind: options.resource.kind });
    this.#random = deps.random ?? Math.random;
    this.synced = new Promise((resolve) => {
      this.#markSynced = resolve;
    });
  }

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (this.#version === undefined) await this.#list(signal);
        await this.#watch(signal);
      } catch (error) {
        if (!signal.aborted) this.#noteFailure(error);
      }
      const pauseMs = this.#failures === 0 ? 0 : fullJitter(BACKOFF, this.#failures - 1, this.#random());
      if (pauseMs > 0) await this.#deps.clock.sleep(pauseMs, signal);
    }
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { resource, sink, namespace, labelSelector, fieldSelector } = this.#options;
    const selection = { namespace, labelSelector, fieldSelector, limit: PAGE, signal };
    const objects: T[] = [];
    let page = await this.#deps.client.list(resource, selection);
    for (;;) {
      objects.push(...sink.page(page.items));
      if (!page.metadata.continue) break;
      page = await this.#deps.client.list(resource, { ...selection, continue: page.metadata.continue });
    }
    const version = page.metadata.resourceVersion ?? '';
    this.#guarded(() => sink.replaceAll(objects, version));
    this.#version = version;
    this.#logger.debug({ objects: objects.length, resourceVersion: version }, 'listed');
    this.hasSynced = true;
    this.#markSynced();
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { clock, client } = this.#deps;
    const { resource, namespace, labelSelector, fieldSelector } = this.#options;
    const { least, most } = WATCH_SECONDS;
    const timeoutSeconds = Math.round(least + this.#random() * (most - least));
    using watchdog = createWatchdog(clock, { signal, longestMs: timeoutSeconds * 1000 });
    const started = clock.now();
    const stream = client.watch(resource, {
      namespace,
      labelSelector,
      fieldSelector,
      timeoutSeconds,
      resourceVersion: this.#version,
      allowWatchBookmarks: true,
      signal: watchdog.signal,
    });
    let events = 0;
    for await (const event of stream) {
      watchdog.alive(event.type === 'BOOKMARK');
      if (event.type === 'ERROR')
        throw new KubeError(event.object.code ?? 500, event.object, { verb: 'watch', resource: resource.plural });
      events += 1;
      this.#failures = 0;
      this.#take(event);
    }
    if (signal.aborted) return;
    if (watchdog.signal.aborted) throw new AppError('timeout', 'the watch went silent', { reason: 'WatchSilent' });
    if (events === 0 && clock.now() - started < SHORTEST_HEALTHY_MS) {
      throw new AppError('unavailable', 'the watch ended at once', { reason: 'WatchEndedAtOnce' });
    }
    this.#failures = 0;
  }

  /** The sink sees the event before the version moves on, but its failure does not hold the stream. */
  #take(event: ObjectEvent<T>): void {
    this.#guarded(() => this.#options.sink.apply(event));
    this.#version = event.object.metadata?.resourceVersion ?? this.#version;
  }

  #guarded(act: () => void): void {
    try {
      act();
    } catch (err) {
      this.#deps.observer?.sinkFailed();
      this.#logger.error({ err }, 'watch handler failed');
    }
  }

  #noteFailure(err: unknown): void {
    const gone = isGone(err);
    if (gone) this.#version = undefined;
    this.#failures += 1;
    const reason = err instanceof AppError ? err.reason : 'Error';
    this.#deps.observer?.failed(reason);
    if (gone || this.#failures === 1) this.#logger.info({ err, reason }, 'watch interrupted');
    else this.#logger.warn({ err, reason, failures: this.#failures }, 'watch still failing');
  }
}
