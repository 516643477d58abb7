import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import { createFairPool } from '../../lib/fair-pool.ts';
import { type CacheReader, compareResourceVersions, listBehind } from '../../lib/informer/index.ts';
import { findObject, type KubeClient, type KubeObject, type ObjectRef, type Resource } from '../../lib/kube/index.ts';
import { createPacedTask, type PacedTask } from '../../lib/paced-task.ts';

/** Finds what the watch has not brought yet, so that what was created a moment ago is never said to be absent. */
export interface CatchUp {
  /**
   * The first answer of `probe` that is not undefined: at once, after the watch had a moment, and after the cache was
   * compared with the server. Any number of searches in one namespace share the reading, whose pace is bounded: ids
   * that do not exist cannot flood the server. Throws AppError `unavailable` where the server cannot be asked, the cache
   * is too far behind it to tell, or the tenant has too many searches under way.
   */
  find<T>(place: SearchPlace, probe: () => T | undefined): Promise<T | undefined>;
}

interface SearchPlace {
  /** Where the object would be. */
  readonly namespace: string;
  /** The caller's namespace, to which the search is charged. */
  readonly tenant: string;
}

interface CatchUpDeps<T extends KubeObject> {
  readonly kube: Pick<KubeClient, 'get' | 'list'>;
  readonly clock: Clock;
  readonly resource: Resource<T>;
  readonly cache: CacheReader<T>;
}

/** The watch is behind by milliseconds when all is well. */
const watchMs = 50;
/** Searches under way in one process, of which one tenant has four fifths; more than that is a flood. */
const searchesMax = 625;
/**
 * Between two readings of one namespace: ten times what the last one took, in these bounds. No caller waits for long.
 */
const pauseMs = { factor: 10, least: 250, most: 500 };
/** Objects that one reading fetches, the newest first; the watch brings the others, or the next reading does. */
const fetchedMax = 100;
/** Largest number under way at one time: each may have 1.5 MiB. */
const fetchedAtOnce = 8;
/** Readings that one search waits for. */
const readingsMax = 10;
/** Namespaces whose readings are paced together. */
const namespacesMax = 1_000;

interface Reading {
  readonly task: PacedTask;
  /** The last one did not fetch all that the cache lacks. */
  isCutOff: boolean;
}

export function createCatchUp<T extends KubeObject>(deps: CatchUpDeps<T>): CatchUp {
  const readings = new LRUCache<string, Reading>({ max: namespacesMax });
  const searches = createFairPool({ size: searchesMax, clock: deps.clock });
  const readingOf = (namespace: string): Reading => {
    const known = readings.get(namespace);
    if (known !== undefined) return known;
    const task = createPacedTask(deps.clock, pauseAfter, async () => {
      reading.isCutOff = (await compare(deps, namespace)) > fetchedMax;
    });
    const reading = { task, isCutOff: false };
    readings.set(namespace, reading);
    return reading;
  };
  return {
    async find({ namespace, tenant }, probe) {
      const found = probe();
      if (found !== undefined) return found;
      using place = searches.tryEnter({ tenant });
      if (place === undefined) throw new AppError('unavailable', 'too many searches', { reason: 'Overloaded' });
      await deps.clock.sleep(watchMs);
      const late = probe();
      if (late !== undefined) return late;
      return await readUntil(readingOf(namespace), probe);
    },
  };
}

async function readUntil<T>(reading: Reading, probe: () => T | undefined): Promise<T | undefined> {
  for (let count = 0; count < readingsMax; count++) {
    await reading.task.next();
    const found = probe();
    if (found !== undefined || !reading.isCutOff) return found;
  }
  throw new AppError('unavailable', 'the cache is too far behind the server', { reason: 'CacheBehind' });
}

function pauseAfter(tookMs: number): number {
  return Math.min(Math.max(pauseMs.factor * tookMs, pauseMs.least), pauseMs.most);
}

/** Puts into the cache what the server has and the cache lacks, or has in an older version; gives how many those were. */
async function compare<T extends KubeObject>(deps: CatchUpDeps<T>, namespace: string): Promise<number> {
  const behind: Place[] = [];
  for await (const { metadata } of listBehind(deps, { namespace })) {
    const { name = '', resourceVersion } = metadata;
    behind.push({ name, resourceVersion });
  }
  const newest = behind
    .toSorted((a, b) => compareResourceVersions(b.resourceVersion, a.resourceVersion))
    .slice(0, fetchedMax);
  for (let at = 0; at < newest.length; at += fetchedAtOnce) {
    await Promise.all(newest.slice(at, at + fetchedAtOnce).map(({ name }) => fetchOne(deps, { namespace, name })));
  }
  return behind.length;
}

/** The kept part of a listed object: its metadata may be of any size. */
interface Place {
  readonly name: string;
  readonly resourceVersion: string | undefined;
}

async function fetchOne<T extends KubeObject>(
  { kube, cache, resource }: CatchUpDeps<T>,
  place: ObjectRef,
): Promise<void> {
  const found = await findObject(kube, resource, place);
  if (found !== undefined) cache.remember(found);
}
