import type { Clock } from '../clock.ts';
import { identityLimits } from './limits.ts';

/** Remembers which key ids the provider was asked for in vain, so that one that is made up costs one fetch and no more. */
export interface UnknownKeys {
  /** Whether the provider said a short while ago that it has no such key. */
  has(kid: string): boolean;
  /** The next fetch is to settle this one. */
  ask(kid: string): void;
  /** A fetch begins. What it gives back takes the keys that came and settles every id asked for before the beginning. */
  begin(): (known: ReadonlySet<string>) => void;
}

export function createUnknownKeys(clock: Clock): UnknownKeys {
  /** Until when each is refused; in the order of that time. */
  const refused = new Map<string, number>();
  let asked = new Set<string>();

  function refuse(kid: string): void {
    refused.delete(kid);
    refused.set(kid, clock.now() + identityLimits.unknownKeyMs);
    if (refused.size > identityLimits.unknownKeys) refused.delete(refused.keys().next().value ?? '');
  }

  return {
    has: (kid) => clock.now() < (refused.get(kid) ?? 0),
    ask(kid) {
      if (asked.size < identityLimits.unknownKeys) asked.add(kid);
    },
    begin() {
      const settled = asked;
      asked = new Set();
      return (known) => {
        for (const kid of settled) if (!known.has(kid)) refuse(kid);
      };
    },
  };
}
