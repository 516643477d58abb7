import { LRUCache } from 'lru-cache';
import type { Clock } from './clock.ts';

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

/** Sources that are remembered: anybody can make up names, and the oldest of them are forgotten. */
const sourcesMax = 1_000;

interface Budget {
  left: number;
  at: number;
  leftOut: number;
}

/** Any sender can make wrong signatures; the events that tell of them must not push out the others. */
export function createRejectionBudget(clock: Clock, { burst, perSecond }: Rate = ofWebhooks): RejectionBudget {
  const budgets = new LRUCache<string, Budget>({ max: sourcesMax });
  return (source) => {
    const now = clock.now();
    const budget = budgets.get(source) ?? { left: burst, at: now, leftOut: 0 };
    budgets.set(source, budget);
    budget.left = Math.min(burst, budget.left + (Math.max(0, now - budget.at) / 1_000) * perSecond);
    budget.at = now;
    if (budget.left < 1) {
      budget.leftOut += 1;
      return { mayTell: false };
    }
    const { leftOut } = budget;
    budget.left -= 1;
    budget.leftOut = 0;
    return { mayTell: true, leftOut };
  };
}
