import { AppError, messageOf } from '../errors.ts';
import { type KubeObject, keyOf, type ObjectEvent, type Resource } from '../kube/index.ts';
import { type Cache, type CacheReader, type CacheChange, createCache } from './cache.ts';
import type { IndexFunction } from './cache-indexes.ts';
import { createReflector, type ReflectorDeps, type ReflectorSink } from './reflector.ts';
import { compareResourceVersions } from './resource-version.ts';
import { stripNotes } from './slim-metadata.ts';
import type { WholeObjects } from './whole-objects.ts';

/** An object of the watched kind that does not pass the parse hook: it is kept apart and nothing else suffers. */
interface InvalidObject {
  readonly key: string;
  readonly object: KubeObject;
  readonly problem: string;
}

/**
 * The event that handlers receive. `invalid` is set when the object is there and cannot be read; `after` is absent
 * then.
 */
export interface InformerChange<T extends KubeObject> extends CacheChange<T> {
  readonly invalid?: InvalidObject;
}

/** Called for each change after the cache holds it. A throw is logged and counted, and the others are still called. */
type ChangeHandler<T extends KubeObject> = (change: InformerChange<T>) => void;

interface InformerOptions<T extends KubeObject, I extends string> {
  readonly resource: Resource<T>;
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly indexes?: Readonly<Record<I, IndexFunction<T>>>;
  /** Throws for an object that cannot be worked with. Default: every object is good. */
  readonly parse?: (object: T) => T;
  /** Drops unread fields, to save memory. Must keep name, namespace, uid and resourceVersion. */
  readonly strip?: (object: T) => T;
  /**
   * Our own writes are not read again when the watch brings them. For kinds with large objects whose parse hook does no more
   * than to refuse what is not readable: it does not see these versions.
   */
  readonly sparesOwn?: boolean;
  /** Where the cache keeps less than its readers need: makes objects slim after `strip`, and reads them in full. */
  readonly wholes?: WholeObjects<T>;
}

/** A cache of one kind that follows the server. */
export interface Informer<T extends KubeObject, I extends string = string> {
  readonly cache: CacheReader<T, I>;
  /** The object that the cache has this of, in full and at least as new; undefined where it is gone. */
  readonly whole: (object: T) => Promise<T | undefined>;
  /** Bytes of heap that it takes in full, where that is much; else 0. */
  readonly weight: (object: T) => number;
  /** The same for a task, which waits for its turn where the object is large. */
  readonly use: WholeObjects<T>['use'];
  /** Call before `run`, or changes before are missed. */
  onChange(handler: ChangeHandler<T>): void;
  /** Follows the server until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** Resolves when the cache holds the first complete list. */
  readonly synced: Promise<void>;
  readonly hasSynced: boolean;
}

export function createInformer<T extends KubeObject, I extends string = never>(
  deps: ReflectorDeps,
  options: InformerOptions<T, I>,
): Informer<T, I> {
  return new CachingInformer(deps, options);
}

class CachingInformer<T extends KubeObject, I extends string> implements Informer<T, I>, ReflectorSink<T> {
  readonly cache: CacheReader<T, I>;
  readonly whole: Informer<T, I>['whole'];
  readonly weight: Informer<T, I>['weight'];
  readonly use: Informer<T, I>['use'];
  readonly run: Informer<T, I>['run'];
  readonly synced: Promise<void>;
  readonly isKnown?: (object: KubeObject) => boolean;
  readonly #store: Cache<T, I>;
  /** Objects that are on the server and fail the parse hook, by key. */
  readonly #invalid = new Map<string, InvalidObject>();
  readonly #reflector: { readonly hasSynced: boolean };
  readonly #handlers: ChangeHandler<T>[] = [];
  readonly #deps: ReflectorDeps;
  readonly #prepare: (object: T) => T;
  readonly #wholes: WholeObjects<T> | undefined;
  /** Poison met in the pages of a list under way. */
  #listedInvalid = new Map<string, InvalidObject>();

  constructor(deps: ReflectorDeps, options: InformerOptions<T, I>) {
    const { resource, namespace, labelSelector, fieldSelector, indexes, wholes, sparesOwn } = options;
    const { parse = (object) => object, strip = stripNotes } = options;
    const keep = (object: T): T => (wholes === undefined ? strip(object) : wholes.slim(strip(object)));
    this.#deps = deps;
    this.#wholes = wholes;
    this.#prepare = (object) => keep(parse(object));
    this.#store = createCache<T, I>({ indexes });
    this.cache = readerOf(this.#store, keep);
    if (sparesOwn === true) this.isKnown = (object) => !this.#invalid.has(keyOf(object)) && this.#store.isOwn(object);
    this.whole = async (object) => (wholes === undefined ? object : wholes.read(object));
    this.weight = (object) => wholes?.weight(object) ?? 0;
    this.use = async (object, task) => (wholes === undefined ? task(object) : wholes.use(object, task));
    const reflector = createReflector(deps, { resource, namespace, labelSelector, fieldSelector, sink: this });
    this.#reflector = reflector;
    this.run = (signal) => reflector.run(signal);
    this.synced = reflector.synced;
  }

  get hasSynced(): boolean {
    return this.#reflector.hasSynced;
  }

  onChange(handler: ChangeHandler<T>): void {
    this.#handlers.push(handler);
  }

  page(items: readonly T[], first: boolean): readonly T[] {
    if (first) this.#listedInvalid.clear();
    const good: T[] = [];
    for (const item of items) {
      const prepared = this.#tryPrepare(item);
      if (prepared instanceof InvalidCarrier) this.#listedInvalid.set(prepared.invalid.key, prepared.invalid);
      else good.push(prepared);
    }
    return good;
  }

  replaceAll(objects: readonly T[], resourceVersion: string): void {
    const listed = this.#listedInvalid;
    this.#listedInvalid = new Map();
    const before = new Map(this.#invalid);
    this.#invalid.clear();
    for (const [key, invalid] of listed) this.#invalid.set(key, invalid);
    const changes = this.#store.replaceAll(objects, resourceVersion);
    const changedKeys = new Set(changes.map(({ key }) => key));
    for (const change of changes) this.#tell(this.#withInvalid(change));
    for (const key of new Set([...before.keys(), ...listed.keys()])) {
      if (!changedKeys.has(key) && !isSameVersion(before.get(key), listed.get(key))) this.#tell(this.#unchanged(key));
    }
  }

  apply(event: ObjectEvent<T>): void {
    if (event.type === 'BOOKMARK' || event.type === 'KNOWN') return this.#applyBare(event);
    const prepared = event.type === 'DELETED' ? event.object : this.#tryPrepare(event.object);
    if (prepared instanceof InvalidCarrier) return this.#applyInvalid(event, prepared.invalid);
    const key = keyOf(prepared);
    const recovered = this.#invalid.delete(key);
    const changes = this.#store.apply({ type: event.type, object: prepared });
    for (const change of changes) this.#tell(change);
    if (recovered && changes.length === 0) this.#tell(this.#unchanged(key));
  }

  /** The cache keeps its own version in place of these events. */
  #applyBare(event: ObjectEvent<T>): void {
    for (const change of this.#store.apply(event)) this.#tell(change);
  }

  *held(): Generator<KubeObject> {
    yield* this.#store.values();
    for (const { object } of this.#invalid.values()) yield object;
  }

  #applyInvalid(event: ObjectEvent<T>, invalid: InvalidObject): void {
    this.#invalid.set(invalid.key, invalid);
    const { resourceVersion } = event.object.metadata;
    this.#store.apply({ type: 'BOOKMARK', object: { metadata: { resourceVersion } } as T });
    const changes = this.#store.evict(invalid.key);
    this.#deps.logger.warn({ key: invalid.key, problem: invalid.problem }, 'object is unreadable');
    for (const change of changes.length > 0 ? changes : [this.#unchanged(invalid.key)])
      this.#tell(this.#withInvalid(change));
  }

  #withInvalid(change: CacheChange<T>): InformerChange<T> {
    const invalid = this.#invalid.get(change.key);
    return invalid === undefined ? change : { ...change, invalid };
  }

  /** Nothing in the cache moved, yet there is news of the key: it became readable, unreadable, or is gone. */
  #unchanged(key: string): InformerChange<T> {
    const held = this.#store.get(key);
    return this.#withInvalid({ key, before: held, after: held, own: false });
  }

  #tryPrepare(object: T): T | InvalidCarrier {
    try {
      return this.#prepare(object);
    } catch (error) {
      if (!(error instanceof AppError)) this.#deps.observer?.sinkFailed();
      return new InvalidCarrier({ key: keyOf(object), object, problem: messageOf(error) });
    }
  }

  #forgetWhole({ before, after }: InformerChange<T>): void {
    if (before === undefined) return;
    if (before.metadata.uid !== after?.metadata.uid) this.#wholes?.forget(before);
    else if (after !== undefined && isOlder(after, before)) this.#wholes?.distrust(after);
  }

  #tell(change: InformerChange<T>): void {
    this.#forgetWhole(change);
    for (const handler of this.#handlers) {
      try {
        handler(change);
      } catch (err) {
        this.#deps.observer?.sinkFailed();
        this.#deps.logger.error({ err, key: change.key }, 'change handler failed');
      }
    }
  }
}

/** Sets an unreadable object apart from a readable one of any shape. */
class InvalidCarrier {
  readonly invalid: InvalidObject;

  constructor(invalid: InvalidObject) {
    this.invalid = invalid;
  }
}

function isSameVersion(a: InvalidObject | undefined, b: InvalidObject | undefined): boolean {
  return a?.object.metadata.resourceVersion === b?.object.metadata.resourceVersion;
}

/** Only a list can be older, after a restored backup (see the cache). */
const isOlder = ({ metadata }: KubeObject, than: KubeObject): boolean =>
  compareResourceVersions(metadata.resourceVersion, than.metadata.resourceVersion) < 0;

/**
 * Our own writes pass the same strip as what the watch delivers. An object that the cache holds is no news, and has been stripped: it
 * must not pass for the whole one.
 */
function readerOf<T extends KubeObject, I extends string>(
  store: Cache<T, I>,
  keep: (object: T) => T,
): CacheReader<T, I> {
  return {
    get: (key) => store.get(key),
    getByUid: (uid) => store.getByUid(uid),
    byIndex: (index, value) => store.byIndex(index, value),
    values: () => store.values(),
    get size() {
      return store.size;
    },
    remember(object) {
      if (store.get(keyOf(object)) !== object) store.remember(keep(object));
    },
  };
}
