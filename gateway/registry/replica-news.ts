import type { Clock } from '../../lib/clock.ts';
import type { CallsUnderWay, Revocations } from '../../lib/envelope/index.ts';
import { AppError } from '../../lib/errors.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import type { KubeObject } from '../../lib/kube/index.ts';
import { lookUntil } from '../../lib/look-until.ts';

/** Waits until the caches of all replicas, from which calls read, have heard of what one has written (ADR 0120). */
export interface ReplicaNews {
  /** Resolves when every replica knows the object of this uid, or after some seconds. Never rejects. */
  made(uid: string): Promise<void>;
  /**
   * Resolves when no replica knows it any more.
   * @throws HttpError 503 where one does not say so in time; the object is deleted then.
   */
  gone(uid: string): Promise<void>;
  /**
   * Resolves when every replica knows the object as it is written, or as it became later.
   * @throws HttpError 503 where one does not say so in time; the object is written then.
   */
  written(object: Pick<KubeObject, 'metadata'>): Promise<void>;
}

/** No key of a session begins so. */
const prefixes = { made: 'made ', gone: 'gone ', written: 'written ' } as const;
const madeMs = 5_000;
const lookEveryMs = 10;

export function createReplicaNews(revocations: Pick<Revocations, 'settled'>, clock: Clock): ReplicaNews {
  const confirmed = (key: string, done: string): Promise<void> =>
    revocations.settled(key).catch((cause: unknown) => {
      const message = `${done}; another replica may not have heard of that yet, and use what was there until then`;
      throw new HttpError({ code: 'unavailable', message, cause });
    });
  return {
    async made(uid) {
      const over = new AbortController();
      const heard = revocations.settled(prefixes.made + uid).catch(() => undefined);
      await Promise.race([heard, clock.sleep(madeMs, over.signal)]);
      over.abort();
    },
    gone: (uid) => confirmed(prefixes.gone + uid, 'it is deleted'),
    written: ({ metadata: { uid = '', generation = 0 } }) =>
      confirmed(`${prefixes.written}${uid} ${generation}`, 'it is written'),
  };
}

interface HeardDeps {
  readonly calls: Pick<CallsUnderWay, 'drained'>;
  readonly clock: Clock;
  /** Generation of the object that the caches have, 0 for one without any; undefined where they have none of this uid. */
  readonly generationOf: (uid: string) => number | undefined;
  /** Whether the caches have been filled. A replica takes no calls before that. */
  readonly hasSynced: () => boolean;
}

/** The answer of this replica to those who revoke sessions, and to those who have made, changed or deleted an object. */
export function withNews({ calls, clock, generationOf, hasSynced }: HeardDeps): Pick<CallsUnderWay, 'drained'> {
  return {
    async drained(key, patienceMs) {
      const [news, prefix] = Object.entries(prefixes).find(([, start]) => key.startsWith(start)) ?? [];
      if (prefix === undefined) return calls.drained(key, patienceMs);
      const [uid = '', generation = 0] = key.slice(prefix.length).split(' ');
      const isDue = (): boolean => {
        const known = generationOf(uid);
        // The first list may be older than a deletion or a change; one that is made meanwhile is in a later one at least.
        if (news === 'made') return !hasSynced() || known !== undefined;
        return (
          hasSynced() && (news === 'gone' ? known === undefined : known !== undefined && known >= Number(generation))
        );
      };
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
