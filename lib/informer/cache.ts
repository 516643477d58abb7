import { type KubeObject, keyOf, type ObjectEvent } from '../kube/index.ts';
import { createIndexes, type IndexFunction, type Indexes } from './cache-indexes.ts';
import { compareResourceVersions } from './resource-version.ts';

/** A watch's event for one key. `before` and `after` are absent when there was or is no object. */
export interface CacheChange<T extends KubeObject> {
  readonly key: string;
  readonly before: T | undefined;
  readonly after: T | undefined;
  /** The delivered version is one this process wrote and remembered: nothing is news to it. */
  readonly own: boolean;
}

interface CacheOptions<T extends KubeObject, I extends string> {
  readonly indexes?: Readonly<Record<I, IndexFunction<T>>>;
}

/** The reading side: what a reconcile gets. Objects are shared; never change them. */
export interface CacheReader<T extends KubeObject, I extends string = string> {
  get(key: string): T | undefined;
  getByUid(uid: string): T | undefined;
  /** In no particular order. */
  byIndex(index: I, value: string): readonly T[];
  values(): IterableIterator<T>;
  readonly size: number;
  /**
   * Takes the answer of our own write. Until the watch delivers that version or a newer one, reads return this
   * object, so that a reconcile never sees the world older than its own last write. An object the watch has
   * already passed is ignored: it is either known or gone again.
   */
  remember(object: T): void;
}

/** The writing side: what a reflector feeds. Each call returns the changes it made, in order. */
export interface Cache<T extends KubeObject, I extends string = string> extends CacheReader<T, I> {
  /** The world as of `resourceVersion`, after a list. Objects missing from it are gone. */
  replaceAll(objects: readonly T[], resourceVersion: string): readonly CacheChange<T>[];
  apply(event: ObjectEvent<T>): readonly CacheChange<T>[];
  /** Whether this is a version of our own that the watch has not delivered yet. */
  isOwn(object: KubeObject): boolean;
  /** Forgets one key that the watch can no longer show, such as an object that became unreadable. */
  evict(key: string): readonly CacheChange<T>[];
}

interface Entry<T> {
  readonly object: T;
  /** Versions of our own that the watch has not delivered yet; empty when the object came from the server's stream. */
  readonly written: readonly string[];
  /** A list that began before our write answered after it; the next list cannot be older than the write. */
  readonly survivedList: boolean;
}

/**
 * Objects of one kind by `namespace/name`, with indexes. Versions only go forward: a delivery older than what is
 * held is dropped, whether it is a duplicate or a late one behind our own write.
 */
export function createCache<T extends KubeObject, I extends string = never>(
  options: CacheOptions<T, I> = {},
): Cache<T, I> {
  return new ObjectCache(options);
}

class ObjectCache<T extends KubeObject, I extends string> implements Cache<T, I> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #indexes: Indexes<T, I>;
  /** Everything up to this version has been delivered. */
  #delivered = '';

  constructor(options: CacheOptions<T, I>) {
    this.#indexes = createIndexes<T, I>(options.indexes);
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key)?.object;
  }

  getByUid(uid: string): T | undefined {
    return this.#pick(this.#indexes.keysOfUid(uid))[0];
  }

  byIndex(index: I, value: string): readonly T[] {
    return this.#pick(this.#indexes.keysOf(index, value));
  }

  *values(): IterableIterator<T> {
    for (const entry of this.#entries.values()) yield entry.object;
  }

  remember(object: T): void {
    const version = object.metadata.resourceVersion;
    const held = this.#entries.get(keyOf(object));
    if (version === undefined || compareResourceVersions(version, this.#delivered) <= 0) return;
    if (compareResourceVersions(version, versionOf(held)) <= 0) return;
    this.#set(object, [...(held?.written ?? []), version]);
  }

  replaceAll(objects: readonly T[], resourceVersion: string): readonly CacheChange<T>[] {
    const listed = new Map(objects.map((object) => [keyOf(object), object]));
    const changes: CacheChange<T>[] = [];
    for (const [key, entry] of this.#entries) {
      if (this.#keepsThroughList(key, entry, resourceVersion)) listed.delete(key);
      else if (!listed.has(key)) changes.push(...this.evict(key));
    }
    for (const object of listed.values()) changes.push(...this.#deliverListed(object));
    this.#delivered = resourceVersion;
    return changes;
  }

  isOwn(object: KubeObject): boolean {
    const { resourceVersion = '' } = object.metadata;
    return this.#entries.get(keyOf(object))?.written.includes(resourceVersion) === true;
  }

  apply(event: ObjectEvent<T>): readonly CacheChange<T>[] {
    const version = event.object.metadata.resourceVersion;
    if (version !== undefined && compareResourceVersions(version, this.#delivered) > 0) this.#delivered = version;
    if (event.type === 'BOOKMARK') return [];
    if (event.type === 'KNOWN') return this.#deliverOwn(event.object);
    return event.type === 'DELETED' ? this.#deliverDeleted(event.object) : this.#deliver(event.object);
  }

  evict(key: string): readonly CacheChange<T>[] {
    const before = this.get(key);
    if (before === undefined) return [];
    this.#entries.delete(key);
    this.#indexes.move(key, before, undefined);
    return [{ key, before, after: undefined, own: false }];
  }

  #deliver(object: T): readonly CacheChange<T>[] {
    const held = this.#entries.get(keyOf(object));
    if (held === undefined) return [this.#set(object, [])];
    const order = compareResourceVersions(object.metadata.resourceVersion, versionOf(held));
    if (order < 0) return deliveredBehind(held, object);
    if (order === 0 && held.written.length === 0) return [];
    return [{ ...this.#set(object, []), own: order === 0 }];
  }

  /** The watch has come to our own write, of which it brings nothing that is not held. */
  #deliverOwn(object: KubeObject): readonly CacheChange<T>[] {
    const held = this.#entries.get(keyOf(object));
    return held === undefined || versionOf(held) !== object.metadata.resourceVersion ? [] : this.#deliver(held.object);
  }

  /** A list is the truth even where its version is lower than ours, as after a restored backup. */
  #deliverListed(object: T): readonly CacheChange<T>[] {
    const held = this.#entries.get(keyOf(object));
    return versionOf(held) === object.metadata.resourceVersion ? this.#deliver(object) : [this.#set(object, [])];
  }

  /** Another incarnation under the same name outlives the late news of its predecessor's end. */
  #deliverDeleted(object: T): readonly CacheChange<T>[] {
    const key = keyOf(object);
    return this.get(key)?.metadata.uid === object.metadata.uid ? this.evict(key) : [];
  }

  #keepsThroughList(key: string, entry: Entry<T>, resourceVersion: string): boolean {
    const newer = compareResourceVersions(versionOf(entry), resourceVersion) > 0;
    if (entry.written.length === 0 || !newer || entry.survivedList) return false;
    this.#entries.set(key, { ...entry, survivedList: true });
    return true;
  }

  #set(after: T, written: readonly string[]): CacheChange<T> {
    const key = keyOf(after);
    const before = this.get(key);
    this.#entries.set(key, { object: after, written, survivedList: false });
    this.#indexes.move(key, before, after);
    return { key, before, after, own: false };
  }

  #pick(keys: Iterable<string>): T[] {
    const found: T[] = [];
    for (const key of keys) {
      const object = this.get(key);
      if (object !== undefined) found.push(object);
    }
    return found;
  }
}

function versionOf(entry: Entry<KubeObject> | undefined): string | undefined {
  return entry?.object.metadata.resourceVersion;
}

/**
 * A version older than the one held, late behind our own write. If another client wrote it, its content is part of what
 * we hold, but no reader has been woken for it yet.
 */
function deliveredBehind<T extends KubeObject>(held: Entry<T>, late: T): readonly CacheChange<T>[] {
  const version = late.metadata.resourceVersion ?? '';
  if (held.written.length === 0 || held.written.includes(version)) return [];
  return [{ key: keyOf(late), before: held.object, after: held.object, own: false }];
}
