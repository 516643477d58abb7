import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';
import { shortKey } from './short-key.ts';
import { createTokenBuckets } from './token-buckets.ts';

/** Whether one more event about a sender that could not prove itself may be raised, and how many before it were not. */
type Verdict = { readonly mayTell: false } | { readonly mayTell: true; readonly leftOut: number };

/** The events of each source, by its name. */
export type RejectionBudget = (source: string) => Verdict;

/** requirements AMB-181. */
const ofWebhooks = { burst: 100, perSecond: 10 };

/** Events of a source at once, and each second from then on. */
interface Rate {
  readonly burst: number;
  readonly perSecond: number;
}

/** Sources that are remembered: strangers can make up names, and the oldest of them are forgotten. */
const sourcesMax = 1_000;

/** Any sender can make wrong signatures; the events that tell of them must not push out the others. */
export function createRejectionBudget(clock: Clock, { burst, perSecond }: Rate = ofWebhooks): RejectionBudget {
  const pace = { burst, intervalMs: 1_000 / perSecond, keysMax: sourcesMax };
  const buckets = createTokenBuckets({ ...pace, nowMs: () => clock.steadyMs() });
  const leftOut = new LRUCache<string, number>({ max: sourcesMax });
  return (name) => {
    const source = shortKey(name);
    const before = leftOut.get(source) ?? 0;
    if (buckets.take(source)) {
      leftOut.delete(source);
      return { mayTell: true, leftOut: before };
    }
    leftOut.set(source, before + 1);
    return { mayTell: false };
  };
}
