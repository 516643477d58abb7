import { hash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { identityLimits } from './limits.ts';

/** What was made of a token, and when that holds. Times are in milliseconds since the Unix epoch. */
export interface VerifiedToken<T> {
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
  /** In the order of last use. */
  const known = new Map<string, VerifiedToken<T>>();
  return {
    get(token, keys) {
      const digest = digestOf(token);
      const found = known.get(digest);
      if (found === undefined) return undefined;
      known.delete(digest);
      const now = clock.now();
      if (found.keys !== keys || now < found.from || now >= found.until) return undefined;
      known.set(digest, found);
      return found.value;
    },
    add(token, verified) {
      known.set(digestOf(token), verified);
      if (known.size > capacity) known.delete(known.keys().next().value ?? '');
    },
  };
}

/** The tokens themselves are not kept: a dump of the memory does not hold them for longer than a request. */
function digestOf(token: string): string {
  return hash('sha256', token, 'base64url');
}
