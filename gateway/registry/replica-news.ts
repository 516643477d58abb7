import type { Clock } from '../../lib/clock.ts';
import type { CallsUnderWay, Revocations } from '../../lib/envelope/index.ts';
import { AppError } from '../../lib/errors.ts';
import { lookUntil } from '../../lib/look-until.ts';

/** Waits until the caches of all replicas, from which calls read, have heard of what one has written (ADR 0120). */
export interface ReplicaNews {
  /** Resolves when every replica knows the object of this uid, or after some seconds. Never rejects. */
  made(uid: string): Promise<void>;
  /**
   * Resolves when no replica knows it any more.
   * @throws AppError `unavailable` where one does not say so in time; the object is deleted then.
   */
  gone(uid: string): Promise<void>;
}

/** No key of a session begins so. */
const prefixes = { made: 'made ', gone: 'gone ' } as const;
const madeMs = 5_000;
const lookEveryMs = 10;

export const createReplicaNews = (revocations: Pick<Revocations, 'settled'>, clock: Clock): ReplicaNews => ({
  async made(uid) {
    const over = new AbortController();
    const heard = revocations.settled(prefixes.made + uid).catch(() => undefined);
    await Promise.race([heard, clock.sleep(madeMs, over.signal)]);
    over.abort();
  },
  gone: (uid) =>
    revocations.settled(prefixes.gone + uid).catch((cause: unknown) => {
      const message = 'it is deleted; another replica may not have heard of that yet, and use it until then';
      throw new AppError('unavailable', message, { reason: 'DeletionUnconfirmed', cause });
    }),
});

interface HeardDeps {
  readonly calls: Pick<CallsUnderWay, 'drained'>;
  readonly clock: Clock;
  readonly isKnown: (uid: string) => boolean;
  /** Whether the caches have been filled. A replica takes no calls before that. */
  readonly hasSynced: () => boolean;
}

/** The answer of this replica to those who revoke sessions, and to those who have made or deleted an object. */
export function withNews({ calls, clock, isKnown, hasSynced }: HeardDeps): Pick<CallsUnderWay, 'drained'> {
  return {
    async drained(key, patienceMs) {
      const [news, prefix] = Object.entries(prefixes).find(([, start]) => key.startsWith(start)) ?? [];
      if (prefix === undefined) return calls.drained(key, patienceMs);
      const uid = key.slice(prefix.length);
      // The first list may be older than a deletion; one that is made meanwhile is in a later one at least.
      const isDue = (): boolean => (news === 'made' ? !hasSynced() || isKnown(uid) : hasSynced() && !isKnown(uid));
      const looks = { clock, ms: patienceMs, everyMs: lookEveryMs };
      const { isWanted: isShown } = await lookUntil(
        looks,
        async () => isDue(),
        (due) => due,
      );
      if (!isShown) throw new AppError('timeout', 'the watch has not shown it');
    },
  };
}
