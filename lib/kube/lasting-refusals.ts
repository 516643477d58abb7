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
/** Keys that are remembered. One that is pushed out begins anew. */
const most = 1_000;

export function createLastingRefusals(clock: Pick<Clock, 'steadyMs'>): LastingRefusals {
  const firsts = new Map<string, number>();
  return {
    isLasting(key) {
      const first = firsts.get(key);
      if (first !== undefined) return clock.steadyMs() - first >= refusalsApartMs;
      const [oldest] = firsts.size < most ? [] : firsts.keys();
      if (oldest !== undefined) firsts.delete(oldest);
      firsts.set(key, clock.steadyMs());
      return false;
    },
    forget: (key) => void firsts.delete(key),
  };
}
