import type { EventBus, KeyValueBucket } from '../../lib/bus/index.ts';
import { envelopeLimits, type Session } from '../../lib/envelope/index.ts';
import { AppError } from '../../lib/errors.ts';

/** Counts the calls of sessions over all replicas, for `max_calls` of a security context. */
export interface CallCounter {
  /** Counts one call; false where the session has had `most` already. */
  take(session: Session, most: number): Promise<boolean>;
}

const definition = { name: 'seal_calls', ttlMs: envelopeLimits.longestSessionMs };

/** Replicas that count for one session at the same moment. */
const attempts = 20;

interface Waiting {
  readonly most: number;
  readonly settle: (isTaken: boolean) => void;
  readonly fail: (error: unknown) => void;
}

/** Calls of one session that come while a write is under way are counted together by the next one. */
export function createCallCounter(bus: Pick<EventBus, 'bucket'>): CallCounter {
  const bucket = bus.bucket<number>(definition);
  const lines = new Map<string, Waiting[]>();
  const work = async (session: Session, line: Waiting[]): Promise<void> => {
    const key = session.session_id;
    while (line.length > 0) {
      const batch = line.splice(0);
      try {
        const taken = await count(bucket, session, batch);
        for (const [index, { settle }] of batch.entries()) settle(index < taken);
      } catch (error) {
        for (const { fail } of batch) fail(error);
      }
    }
    lines.delete(key);
  };
  return {
    take(session, most) {
      return new Promise((settle, fail) => {
        const line = lines.get(session.session_id);
        if (line !== undefined) return void line.push({ most, settle, fail });
        const begun = [{ most, settle, fail }];
        lines.set(session.session_id, begun);
        void work(session, begun);
      });
    },
  };
}

/** How many of the batch fit. */
async function count(bucket: KeyValueBucket<number>, session: Session, batch: readonly Waiting[]): Promise<number> {
  const most = Math.min(...batch.map((one) => one.most));
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const found = await bucket.get(session.session_id);
    const had = found?.value ?? 0;
    const taken = Math.max(0, Math.min(batch.length, most - had));
    if (taken === 0) return 0;
    const written =
      found === undefined
        ? await bucket.create(session.session_id, taken, session.tenant)
        : await bucket.update(session.session_id, had + taken, found.revision);
    if (written !== undefined) return taken;
  }
  throw new AppError('unavailable', 'too many replicas count calls of this session; try again', {
    reason: 'CounterBusy',
  });
}
