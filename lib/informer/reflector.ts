import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import {
  isGone,
  KubeError,
  type KubeList,
  type KubeObject,
  keyOf,
  type ListOptions,
  listPages,
  type ListWatchPort,
  metadataOf,
  type ObjectEvent,
  type Resource,
} from '../kube/index.ts';
import type { Logger } from '../logger.ts';
import { fullJitter } from '../backoff.ts';
import { differences } from './differences.ts';
import { createWatchdog } from './watchdog.ts';

/** The receiver of the reflector's events. A throw is logged and counted, and the stream continues. */
export interface ReflectorSink<T extends KubeObject> {
  /**
   * One page of a list under way: may drop what need not be kept before the next page comes. `first`: a list begins; one
   * that was under way broke off.
   */
  page(items: readonly T[], first: boolean): readonly T[];
  /** The world as of `resourceVersion`. */
  replaceAll(objects: readonly T[], resourceVersion: string): void;
  apply(event: ObjectEvent<T>): void;
  /** Whether it has this version already; then the watch brings no more of it than its metadata. Default: never. */
  readonly isKnown?: (object: KubeObject) => boolean;
  /** Everything that it has taken and that is not gone, as far as it knows. */
  held(): Iterable<KubeObject>;
}

/** Receives its events; must not throw. */
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

interface ReflectorOptions<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly sink: ReflectorSink<T>;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
}

/** Keeps a sink in step with one kind on the server, whatever happens to the connection. */
interface Reflector {
  /** Lists and watches until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves after the first complete list has reached the sink. */
  readonly synced: Promise<void>;
  readonly hasSynced: boolean;
}

/** A watch lasts a random time in this range, so that the watches of a process do not end together. */
const watchSeconds = { least: 290, most: 590 } as const;
/** The first watch that begins this long after the last list or comparison compares versions with the server's. */
const compareMs = 600_000;
/** Differences are checked again with a later watch: by then a mere lag is over. */
const compareAgainMs = 60_000;
const backoff = { baseMs: 250, maxMs: 30_000 } as const;
/** A watch that ends sooner than this and brought nothing did not work. */
const shortestHealthyMs = 1_000;

export function createReflector<T extends KubeObject>(deps: ReflectorDeps, options: ReflectorOptions<T>): Reflector {
  return new ListWatchReflector(deps, options);
}

const versionOf = ({ metadata }: KubeObject): string => metadata.resourceVersion ?? '';

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
  #comparing: Promise<void> | undefined;
  #comparedAt = 0;
  /** Findings of the last comparison. */
  #suspects: ReadonlySet<string> = new Set();
  /** Versions of the objects that the last list passed over because each is too large, by key. */
  readonly #passedOver = new Map<string, string>();
  /** An event never came, and will not: list when the watch has ended. */
  #lost = false;

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
        if (this.#version === undefined || this.#lost) await this.#list(signal);
        else if (this.#isDue()) this.#comparing ??= this.#compare(signal);
        await this.#watch(signal);
      } catch (error) {
        if (!signal.aborted) this.#noteFailure(error);
      }
      const pauseMs = this.#failures === 0 ? 0 : fullJitter(backoff, this.#failures - 1, this.#random());
      if (pauseMs > 0) await this.#deps.clock.sleep(pauseMs, signal);
    }
    await this.#comparing;
  }

  async #list(signal: AbortSignal): Promise<void> {
    const { resource, sink } = this.#options;
    const objects: T[] = [];
    let version: string | undefined;
    this.#passedOver.clear();
    for await (const { items, metadata } of this.#pages(resource, signal)) {
      objects.push(...sink.page(items, version === undefined));
      version = metadata.resourceVersion ?? '';
    }
    this.#guarded(() => sink.replaceAll(objects, version ?? ''));
    this.#version = version;
    this.#lost = false;
    this.#suspects = new Set();
    this.#comparedAt = this.#deps.clock.now();
    this.#logger.debug({ objects: objects.length, resourceVersion: version }, 'listed');
    this.hasSynced = true;
    this.#markSynced();
  }

  #pages<O extends KubeObject>(resource: Resource<O>, signal: AbortSignal): AsyncGenerator<KubeList<O>> {
    const { namespace, labelSelector, fieldSelector } = this.#options;
    const selection = { namespace, labelSelector, fieldSelector, signal };
    return listPages(
      (paged) => this.#deps.client.list(resource, paged),
      selection,
      (paged) => this.#passOver(paged),
    );
  }

  /** One object must not keep all others from the sink. */
  async #passOver(paged: ListOptions): Promise<KubeList<KubeObject>> {
    const page = await this.#deps.client.list(metadataOf(this.#options.resource), paged);
    for (const item of page.items) {
      this.#passedOver.set(keyOf(item), versionOf(item));
      this.#deps.observer?.failed('ObjectTooLarge');
      this.#logger.warn({ key: keyOf(item) }, 'object is too large and passed over');
    }
    return page;
  }

  #isDue(): boolean {
    const age = this.#deps.clock.now() - this.#comparedAt;
    return age >= (this.#suspects.size === 0 ? compareMs : compareAgainMs);
  }

  /** Finds events that the server never sent; the watch continues meanwhile (ADR 0031). Never rejects. */
  async #compare(signal: AbortSignal): Promise<void> {
    const { resource, sink } = this.#options;
    this.#comparedAt = this.#deps.clock.now();
    try {
      const server = new Map<string, string>();
      for await (const { items } of this.#pages(metadataOf(resource), signal)) {
        for (const item of items.filter((one) => !this.#isPassedOver(one))) server.set(keyOf(item), versionOf(item));
      }
      const before = this.#suspects;
      this.#suspects = differences(server, sink.held());
      const lost = [...this.#suspects].filter((suspect) => before.has(suspect)).length;
      if (lost > 0) this.#noteLoss(lost);
    } catch (err) {
      this.#logger.debug({ err }, 'versions not compared');
    } finally {
      this.#comparing = undefined;
    }
  }

  #isPassedOver(item: KubeObject): boolean {
    return this.#passedOver.get(keyOf(item)) === versionOf(item);
  }

  #noteLoss(objects: number): void {
    this.#lost = true;
    this.#deps.observer?.failed('EventLost');
    this.#logger.warn({ objects }, 'watch has lost events');
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const { clock, client } = this.#deps;
    const { resource, sink, namespace, labelSelector, fieldSelector } = this.#options;
    const { least, most } = watchSeconds;
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
      isKnown: sink.isKnown,
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
    if (events === 0 && clock.now() - started < shortestHealthyMs) {
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
