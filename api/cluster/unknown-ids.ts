import type { Clock } from '../../lib/clock.ts';

/**
 * Remembers for a while which ids the server does not know. The server makes ids at random when it creates an object,
 * so one that it did not know cannot come to be.
 */
export interface UnknownIds {
  has(id: string): boolean;
  add(id: string): void;
}

export interface UnknownIdsLimits {
  readonly capacity: number;
  readonly lifeMs: number;
}

export function createUnknownIds(clock: Pick<Clock, 'now'>, { capacity, lifeMs }: UnknownIdsLimits): UnknownIds {
  const until = new Map<string, number>();
  return {
    has: (id) => (until.get(id) ?? 0) > clock.now(),
    add(id) {
      until.delete(id);
      until.set(id, clock.now() + lifeMs);
      if (until.size > capacity) until.delete(until.keys().next().value ?? '');
    },
  };
}
