import type { Clock } from '../../lib/clock.ts';
import type { CallsUnderWay, Revocations } from '../../lib/envelope/index.ts';
import { AppError } from '../../lib/errors.ts';

/** Deletions of objects that calls read from the caches of replicas (ADR 0120). */
export interface Deletions {
  /**
   * Resolves when no replica knows the object of this uid any more.
   * @throws AppError `unavailable` where one does not say so in time; the object is deleted then.
   */
  settled(uid: string): Promise<void>;
}

/** No key of a session begins so. */
const prefix = 'object ';
const lookEveryMs = 10;

export const createDeletions = (revocations: Pick<Revocations, 'settled'>): Deletions => ({
  settled: (uid) =>
    revocations.settled(prefix + uid).catch((cause: unknown) => {
      const message = 'it is deleted; another replica may not have heard of that yet, and use it until then';
      throw new AppError('unavailable', message, { reason: 'DeletionUnconfirmed', cause });
    }),
});

interface HeardDeps {
  readonly calls: Pick<CallsUnderWay, 'drained'>;
  readonly clock: Clock;
  readonly isKnown: (uid: string) => boolean;
}

/** The answer of this replica to those who revoke sessions, and to those who delete objects. */
export function withDeletions({ calls, clock, isKnown }: HeardDeps): Pick<CallsUnderWay, 'drained'> {
  return {
    async drained(key, patienceMs) {
      if (!key.startsWith(prefix)) return calls.drained(key, patienceMs);
      const uid = key.slice(prefix.length);
      for (let leftMs = patienceMs; isKnown(uid); leftMs -= lookEveryMs) {
        if (leftMs <= 0) throw new AppError('timeout', 'the watch has not told of the deletion');
        await clock.sleep(lookEveryMs);
      }
    },
  };
}
