import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';
import { shortKey } from './short-key.ts';

/** Remembers for a while which ids their issuer does not know, so that a made-up id costs one question. */
export interface UnknownIds {
  has(id: string): boolean;
  add(id: string): void;
}

interface UnknownIdsLimits {
  readonly capacity: number;
  readonly lifeMs: number;
}

export function createUnknownIds(clock: Pick<Clock, 'steadyMs'>, { capacity, lifeMs }: UnknownIdsLimits): UnknownIds {
  const until = new LRUCache<string, number>({ max: capacity });
  return {
    has: (id) => (until.get(shortKey(id)) ?? 0) > clock.steadyMs(),
    add: (id) => void until.set(shortKey(id), clock.steadyMs() + lifeMs),
  };
}
