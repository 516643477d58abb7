import { LRUCache } from 'lru-cache';

/** A pace for each of many keys: so many at once, and one more each interval from then on. */
export interface TokenBuckets {
  /** Whether the key may have one now. */
  isDue(key: string): boolean;
  /** The same; it counts from then on. */
  take(key: string): boolean;
  /** How long until the key may have one; 0 where it may now. */
  waitMs(key: string): number;
  /** It was not used. */
  giveBack(key: string): void;
}

interface TokenBucketsOptions {
  readonly nowMs: () => number;
  /** At once, after a rest. */
  readonly burst: number;
  readonly intervalMs: number;
  /** Keys that are remembered: strangers may make up any number. The longest unused one is forgotten first, and begins anew. */
  readonly keysMax: number;
}

interface Tokens {
  readonly left: number;
  readonly at: number;
}

export function createTokenBuckets({ nowMs, burst, intervalMs, keysMax }: TokenBucketsOptions): TokenBuckets {
  const buckets = new LRUCache<string, Tokens>({ max: keysMax });
  const filled = (key: string): number => {
    const tokens = buckets.get(key);
    if (tokens === undefined) return burst;
    // A clock that is set back takes none away.
    return Math.min(burst, tokens.left + Math.max(0, nowMs() - tokens.at) / intervalMs);
  };
  return {
    isDue: (key) => filled(key) >= 1,
    take(key) {
      const left = filled(key);
      // Also without one: a clock that is set back would else stop the filling until it is where it was.
      buckets.set(key, { left: left < 1 ? left : left - 1, at: nowMs() });
      return left >= 1;
    },
    waitMs: (key) => Math.max(0, 1 - filled(key)) * intervalMs,
    giveBack(key) {
      const tokens = buckets.get(key);
      if (tokens !== undefined) buckets.set(key, { ...tokens, left: Math.min(burst, tokens.left + 1) });
    },
  };
}
