import { hash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { identityLimits } from './limits.ts';

/** The result for a token, and its validity. Times are in milliseconds since the Unix epoch. */
interface VerifiedToken<T> {
  readonly value: T;
  /** Version of the keys that the signature was checked with. */
  readonly keys: number;
  readonly from: number;
  readonly until: number;
}

/** Remembers the tokens used last by their digest, so that a client that calls often costs one check of a signature. */
export interface VerifiedTokens<T> {
  /** Undefined unless the token was checked with these very keys and is valid now. */
  get(token: string, keys: number): T | undefined;
  add(token: string, verified: VerifiedToken<T>): void;
}

export function createVerifiedTokens<T>(
  clock: Clock,
  capacity: number = identityLimits.verifiedTokens,
): VerifiedTokens<T> {
  const known = new Map<string, Entry<T>>();
  return {
    get(token, keys) {
      const digest = digestOf(token);
      const found = known.get(digest);
      if (found === undefined) return undefined;
      const now = clock.now();
      if (found.keys !== keys || now < found.from || now >= found.until) {
        known.delete(digest);
        return undefined;
      }
      found.wasUsed = true;
      return found.value;
    },
    add(token, verified) {
      if (known.size >= capacity) dropOne(known);
      known.set(digestOf(token), { ...verified, wasUsed: false });
    },
  };
}

/** Marked in place: taking it out and in again at each use would leave an old table behind every few requests (ADR 0029). */
type Entry<T> = VerifiedToken<T> & { wasUsed: boolean };

/** Drops the oldest that was not used since it was last looked at here. */
function dropOne<T>(known: Map<string, Entry<T>>): void {
  for (const [digest, entry] of known) {
    known.delete(digest);
    if (!entry.wasUsed) return;
    entry.wasUsed = false;
    known.set(digest, entry);
  }
}

/** The tokens themselves are not kept: a dump of the memory does not hold them for longer than a request. */
function digestOf(token: string): string {
  return hash('sha256', token, 'base64url');
}
