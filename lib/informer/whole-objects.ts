import { LRUCache } from 'lru-cache';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { createFairPool, type FairPool } from '../fair-pool.ts';
import { heapBytes } from '../heap-bytes.ts';
import { bytesOf } from '../memory-budget/index.ts';
import { findAgain, type KubeClient, type KubeObject, type Resource } from '../kube/index.ts';
import { stripNotes } from './slim-metadata.ts';
import { compareResourceVersions } from './resource-version.ts';

/** Objects of one kind in full, for a cache that keeps only what wakes a decision (design §11). */
export interface WholeObjects<T extends KubeObject> {
  /**
   * The part of a new version that the cache keeps. The whole of it is kept for the next reader, while there is room.
   */
  slim(object: T): T;
  /**
   * The object that the cache has this of, in full and at least as new; undefined where it is gone. Readers of one object
   * share the reading. Throws as the server does.
   */
  read(slim: T): Promise<T | undefined>;
  /**
   * Reads it for a task. Large objects of all tasks together stay within a budget: a task waits for its turn, and the
   * tenants for whom objects are in use share the budget.
   */
  use<R>(slim: T, task: (whole: T | undefined) => Promise<R>): Promise<R>;
  /** Bytes of heap that the whole of it takes, as far as that is known and not little; else 0. */
  weight(slim: T): number;
  /** The object is gone. */
  forget(object: T): void;
  /** The server went back to a lower version of the object, so that no version kept of it can be trusted. */
  distrust(object: T): void;
}

/**
 * Reads objects in full in turns: large ones of one namespace one after another, for any reader. Each read costs the
 * API server and this process the whole object. Those who keep one for long also reserve memory for it.
 */
export const readInTurn =
  <T extends KubeObject>({ use }: Pick<WholeObjects<T>, 'use'>) =>
  (object: T): Promise<T | undefined> =>
    use(object, async (whole) => whole);

export interface WholeOptions<T extends KubeObject> {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly clock: Clock;
  readonly resource: Resource<T>;
  /** The fields that wake decisions. Must keep name, namespace, uid and resourceVersion. */
  readonly slim: (object: T) => T;
  /** Whether the cache keeps it as it came, so that there is nothing to read. Default: never. */
  readonly isWhole?: (object: T) => boolean;
  /** Whether the next reader of a version is likely. Default: of each. */
  readonly isSpared?: (object: T) => boolean;
  /** Bytes of heap for versions that are not in use. */
  readonly keptBytes: number;
}

/**
 * Bytes of heap of objects that tasks use at one time, without those that are small. The API server handles the whole
 * of an object at each read and write. That takes some 0.1 s of its processor for each MiB of heap up to 8, and all
 * tenants share it. So there is work for two of its processors at most, of which one namespace has one: an object counts as half
 * at most.
 */
const inUseBytes = Math.min(16 * 1024 * 1024, bytesOf('objects in use'));
/** An object of less than this may be used without waiting for a turn. */
const smallBytes = 256 * 1024;
/** Weighing ends here: no object that the API server takes is much larger. */
const weighedBytes = 64 * 1024 * 1024;

export function createWholeObjects<T extends KubeObject>(options: WholeOptions<T>): WholeObjects<T> {
  return new ReadWholeObjects(options);
}

/** One object must not push out all the others. */
const largestPart = 1 / 4;

class ReadWholeObjects<T extends KubeObject> implements WholeObjects<T> {
  readonly #options: WholeOptions<T>;
  /** The newest version that came, by uid. */
  readonly #kept: LRUCache<string, T>;
  /** By uid and version. */
  readonly #underWay = new Map<string, Promise<T | undefined>>();
  /** Weights of objects that are not small, by uid. */
  readonly #large = new Map<string, number>();
  readonly #specs = new SpecWeights();
  readonly #inUse: FairPool;

  constructor(options: WholeOptions<T>) {
    this.#options = options;
    this.#inUse = createFairPool({ size: inUseBytes, clock: options.clock, perFree: 1 });
    this.#kept = new LRUCache({
      maxSize: options.keptBytes,
      maxEntrySize: Math.floor(options.keptBytes * largestPart),
    });
  }

  slim(object: T): T {
    this.#keep(object);
    return this.#options.slim(object);
  }

  async read(slim: T): Promise<T | undefined> {
    if (this.#options.isWhole?.(slim) === true) return slim;
    const { uid = '', resourceVersion } = slim.metadata;
    const known = this.#kept.get(uid);
    if (known !== undefined && isAsNew(known, slim)) return known;
    const key = `${uid}@${resourceVersion}`;
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return underWay;
    const reading = this.#fetch(slim).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, reading);
    return reading;
  }

  async use<R>(slim: T, task: (whole: T | undefined) => Promise<R>): Promise<R> {
    const bytes = this.#large.get(slim.metadata.uid ?? '');
    const run = async (): Promise<R> => task(await this.read(slim));
    if (bytes === undefined) return run();
    return this.#inUse.run({ tenant: slim.metadata.namespace ?? '', cost: bytes }, run);
  }

  weight({ metadata: { uid = '' } }: T): number {
    return this.#large.get(uid) ?? 0;
  }

  forget({ metadata: { uid = '' } }: T): void {
    this.#kept.delete(uid);
    this.#large.delete(uid);
    this.#specs.forget(uid);
  }

  /** The weight stays: it is that of the version listed last. */
  distrust({ metadata: { uid = '' } }: T): void {
    this.#kept.delete(uid);
    this.#specs.forget(uid);
  }

  /** A decision must never see an older object than the one that woke it. */
  async #fetch(slim: T): Promise<T | undefined> {
    const { kube, resource } = this.#options;
    const found = await findAgain(kube, resource, slim);
    if (found === undefined) return undefined;
    // As the watch delivers it: a stranger's field managers must neither be kept nor make it count as large.
    const whole = stripNotes(found);
    if (!isAsNew(whole, slim)) {
      throw new AppError('unavailable', 'the API server answered with an old version', { reason: 'StaleRead' });
    }
    this.#keep(whole);
    return whole;
  }

  #keep(object: T): void {
    if (this.#options.isWhole?.(this.#options.slim(object)) === true) return;
    const { uid = '' } = object.metadata;
    const bytes = this.#specs.weigh(object);
    if (bytes >= smallBytes) this.#large.set(uid, bytes);
    else this.#large.delete(uid);
    const known = this.#kept.get(uid);
    if (known !== undefined && isAsNew(known, object)) return;
    const { isSpared = () => true } = this.#options;
    if (isSpared(object)) this.#kept.set(uid, object, { size: Math.max(1, Math.ceil(bytes)) });
    else this.#kept.delete(uid);
  }
}

/**
 * Weighs objects; the spec once for each generation of an object, for a write of the status leaves it as it is. To look at all
 * members of an input of 1 MiB takes some 50 ms, and its execution has dozens of such writes, which every process hears of.
 */
class SpecWeights {
  /** Specs that are not small, by the uid of their object. */
  readonly #known = new Map<string, { readonly generation: number; readonly bytes: number }>();

  weigh(object: KubeObject & { readonly spec?: unknown }): number {
    const { spec, ...rest } = object;
    const { uid = '', generation } = object.metadata;
    if (spec === undefined || generation === undefined) return heapBytes(object, weighedBytes);
    const known = this.#known.get(uid);
    const bytes = known?.generation === generation ? known.bytes : heapBytes(spec, weighedBytes);
    if (bytes < smallBytes) this.#known.delete(uid);
    else this.#known.set(uid, { generation, bytes });
    return bytes + heapBytes(rest, weighedBytes);
  }

  forget(uid: string): void {
    this.#known.delete(uid);
  }
}

const isAsNew = (object: KubeObject, than: KubeObject): boolean =>
  compareResourceVersions(object.metadata.resourceVersion, than.metadata.resourceVersion) >= 0;
