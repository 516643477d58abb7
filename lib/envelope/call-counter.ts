import type { EventBus, KeyValueBucket } from '../bus/index.ts';
import { AppError } from '../errors.ts';
import { firstAnswer } from '../retry.ts';
import { envelopeLimits } from './limits.ts';
import { sessionKey, type SessionName } from './sessions.ts';

/** The counted party: signed calls and those of the agent itself share one count. */
export type CallAccount = SessionName;

/** Counts the tool calls of executions over all replicas and processes, for `max_calls` of a security context. */
export interface CallCounter {
  /** Counts one call; false where the execution has had `most` already. */
  take(account: CallAccount, most: number): Promise<boolean>;
}

const definition = { name: 'seal_calls', ttlMs: envelopeLimits.longestSessionMs };

/** Replicas that count for one execution at the same moment. */
const attempts = 20;

interface Waiting {
  readonly most: number;
  readonly settle: (isTaken: boolean) => void;
  readonly fail: (error: unknown) => void;
}

/** Calls of one execution that come while a write is under way are counted together by the next one. */
export function createCallCounter(bus: Pick<EventBus, 'bucket'>): CallCounter {
  const bucket = bus.bucket<number>(definition);
  const lines = new Map<string, Waiting[]>();
  const work = async (account: CallAccount, line: Waiting[]): Promise<void> => {
    const key = sessionKey(account);
    while (line.length > 0) {
      const batch = line.splice(0);
      try {
        const taken = await count(bucket, account, batch);
        for (const [index, { settle }] of batch.entries()) settle(index < taken);
      } catch (error) {
        for (const { fail } of batch) fail(error);
      }
    }
    lines.delete(key);
  };
  return {
    take(account, most) {
      return new Promise((settle, fail) => {
        const line = lines.get(sessionKey(account));
        if (line !== undefined) return void line.push({ most, settle, fail });
        const begun = [{ most, settle, fail }];
        lines.set(sessionKey(account), begun);
        void work(account, begun);
      });
    },
  };
}

/** How many of the batch fit. */
async function count(bucket: KeyValueBucket<number>, account: CallAccount, batch: readonly Waiting[]): Promise<number> {
  const key = sessionKey(account);
  const most = Math.min(...batch.map((one) => one.most));
  const taken = await firstAnswer(attempts, async () => {
    const found = await bucket.get(key);
    const had = found?.value ?? 0;
    const free = Math.max(0, Math.min(batch.length, most - had));
    if (free === 0) return 0;
    const written =
      found === undefined
        ? await bucket.create(key, free, account.tenant)
        : await bucket.update(key, had + free, found.revision);
    return written === undefined ? undefined : free;
  });
  if (taken !== undefined) return taken;
  throw new AppError('unavailable', 'too many replicas count calls of this execution; try again', {
    reason: 'CounterBusy',
  });
}
