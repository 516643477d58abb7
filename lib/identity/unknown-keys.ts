import type { Clock } from '../clock.ts';
import { createUnknownIds } from '../unknown-ids.ts';
import { identityLimits } from './limits.ts';

/** Remembers which key ids the provider was asked for in vain, so that one that is made up costs one fetch and no more. */
interface UnknownKeys {
  /** Whether the provider said a short while ago that it has no such key. */
  has(kid: string): boolean;
  /** The next fetch is to settle this one. */
  ask(kid: string): void;
  /**
   * A fetch begins. The returned function takes the keys that came and settles every id asked for before the beginning.
   */
  begin(): (known: ReadonlySet<string>) => void;
}

export function createUnknownKeys(clock: Clock): UnknownKeys {
  const { unknownKeys: capacity, unknownKeyMs: lifeMs } = identityLimits;
  const refused = createUnknownIds(clock, { capacity, lifeMs });
  let asked = new Set<string>();
  return {
    has: (kid) => refused.has(kid),
    ask(kid) {
      if (asked.size < capacity) asked.add(kid);
    },
    begin() {
      const settled = asked;
      asked = new Set();
      return (known) => {
        for (const kid of settled) if (!known.has(kid)) refused.add(kid);
      };
    },
  };
}
