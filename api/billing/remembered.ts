import { LRUCache } from 'lru-cache';
import type { Clock } from '../../lib/clock.ts';

interface RememberOptions<T> {
  /** How long a value is good for. */
  readonly ttlMs: (value: T) => number;
  /** Largest number of cached keys; the oldest is dropped first. */
  readonly capacity: number;
}

/** TTL cache with request coalescing. */
interface Remembered<T> {
  get(key: string): Promise<T>;
  set(key: string, value: T): void;
  forget(key: string): void;
}

interface Entry<T> {
  readonly value: Promise<T>;
  /** Infinite while the answer is awaited. */
  until: number;
}

/** A call of `load` that fails is not remembered. */
export function remember<T>(
  clock: Clock,
  load: (key: string) => Promise<T>,
  options: RememberOptions<T>,
): Remembered<T> {
  const entries = new LRUCache<string, Entry<T>>({ max: options.capacity });

  async function ask(key: string): Promise<T> {
    const entry: Entry<T> = { value: load(key), until: Number.POSITIVE_INFINITY };
    entries.set(key, entry);
    try {
      const value = await entry.value;
      entry.until = clock.now() + options.ttlMs(value);
      return value;
    } catch (error) {
      if (entries.get(key) === entry) entries.delete(key);
      throw error;
    }
  }

  return {
    get(key) {
      const known = entries.get(key);
      return known !== undefined && clock.now() < known.until ? known.value : ask(key);
    },
    set: (key, value) =>
      void entries.set(key, { value: Promise.resolve(value), until: clock.now() + options.ttlMs(value) }),
    forget: (key) => void entries.delete(key),
  };
}
