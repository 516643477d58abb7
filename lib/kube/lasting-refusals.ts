import type { Clock } from '../clock.ts';

/** Which refusals last. A server that has just begun refuses everything for a moment, with the words of a missing role. */
export interface LastingRefusals {
  /** Whether `key` was refused before as well, long enough ago. Remembers the first time. */
  isLasting(key: string): boolean;
  /** Something was allowed: the next refusal is a first one. */
  forget(key: string): void;
}

/** How far apart two refusals are at least that count (ADR 0142). A server has read its roles long before. */
export const refusalsApartMs = 3_000;
/** A refusal so long ago says nothing of the next one: another server may have begun in between. */
const remembersMs = 600_000;
/** Keys that are remembered. One that is pushed out begins anew. */
const most = 1_000;

export function createLastingRefusals(clock: Pick<Clock, 'steadyMs'>): LastingRefusals {
  const known = new Map<string, { readonly first: number; last: number }>();
  return {
    isLasting(key) {
      const now = clock.steadyMs();
      const before = known.get(key);
      if (before !== undefined && now - before.last < remembersMs) {
        before.last = now;
        return now - before.first >= refusalsApartMs;
      }
      known.delete(key);
      const [oldest] = known.size < most ? [] : known.keys();
      if (oldest !== undefined) known.delete(oldest);
      known.set(key, { first: now, last: now });
      return false;
    },
    forget: (key) => void known.delete(key),
  };
}
