import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import type { BucketDefinition, KeyValueBucket } from './event-bus.ts';

/** Entries of one bucket: a key and a reservation take some 500 bytes. Then no more are taken, so that none is forgotten early. */
const entriesMax = 100_000;

interface Entry<T> {
  readonly value: T;
  readonly revision: number;
  readonly until: number;
}

/**
 * A bucket in the memory of this process, for an installation without a bus, which has one replica (requirements
 * AMB-182). It ends with the process. Throws AppError `unavailable` where it is full.
 */
export function createMemoryBucket<T>(clock: Clock, { ttlMs }: BucketDefinition, most = entriesMax): KeyValueBucket<T> {
  /** In the order in which they end. */
  const entries = new Map<string, Entry<T>>();
  let revision = 0;

  const current = (key: string): Entry<T> | undefined => {
    for (const [ended, { until }] of entries) {
      if (until > clock.now()) break;
      entries.delete(ended);
    }
    return entries.get(key);
  };
  const write = (key: string, value: T): number => {
    revision += 1;
    entries.delete(key);
    entries.set(key, { value, revision, until: clock.now() + ttlMs });
    return revision;
  };
  return {
    async get(key) {
      const found = current(key);
      return found && { value: found.value, revision: found.revision };
    },
    async create(key, value) {
      if (current(key) !== undefined) return undefined;
      if (entries.size >= most) throw full();
      return write(key, value);
    },
    async update(key, value, expected) {
      return current(key)?.revision === expected ? write(key, value) : undefined;
    },
    async delete(key, expected) {
      if (current(key)?.revision === expected) entries.delete(key);
    },
  };
}

const full = (): AppError =>
  new AppError('unavailable', 'too many keys are remembered; configure an event bus', { reason: 'BucketFull' });
