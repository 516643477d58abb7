import { LRUCache } from 'lru-cache';
import { type EventBus, type KeyValueBucket, type KeyValueEntry, ShareUsedError } from '../bus/index.ts';
import { AppError } from '../errors.ts';
import { newId } from '../ids.ts';
import { firstAnswer } from '../retry.ts';
import { envelopeLimits } from './limits.ts';
import { sessionKey, type SessionName } from './sessions.ts';

/** The counted party: signed calls and those of the agent itself share one count. */
type CallAccount = SessionName;

/** Counts the tool calls of executions over all replicas and processes, for `max_calls` of a security context. */
export interface CallCounter {
  /**
   * Counts one call; false where the execution has had `most` already. Throws AppError `unavailable` where the bus does not
   * answer, or the tenant has its share of all counts; a call that was counted all the same counts for the next one of the execution in this process. `callId`: a call that
   * another process makes where this one dies; it is counted once, as long as few others of the execution come in between.
   */
  take(account: CallAccount, most: number, callId?: string): Promise<boolean>;
}

/** Calls that were counted by one write. */
interface Batch {
  readonly id: string;
  readonly calls: number;
  /** Those of them that have one. Absent: none has, or a version before wrote it. */
  readonly ids?: readonly string[];
}

interface Count {
  readonly calls: number;
  /** The last writes: their makers know them again when the answer was lost. */
  readonly last: readonly Batch[];
}

/** Earlier versions keep a plain number in `seal_calls`; neither reads the form of the other. */
const definition = { name: 'seal_call_counts', ttlMs: envelopeLimits.longestSessionMs, holds: 'counts of tool calls' };

/** Replicas that count for one execution at the same moment. */
const attempts = 20;
/** Writes that a count names: other replicas may have counted since. */
const batchesKept = 3;
/** Executions with a write whose answer was lost; what is forgotten of them costs them a call. */
const unsureKept = 10_000;

interface Waiting {
  readonly most: number;
  readonly callId: string | undefined;
  readonly settle: (isTaken: boolean) => void;
  readonly fail: (error: unknown) => void;
}

/** Calls of one execution that come while a write is under way are counted together by the next one. */
export function createCallCounter(bus: Pick<EventBus, 'bucket'>): CallCounter {
  const counts = new Counts(bus.bucket<Count>(definition));
  const lines = new Map<string, Waiting[]>();
  const work = async (account: CallAccount, line: Waiting[]): Promise<void> => {
    const key = sessionKey(account);
    while (line.length > 0) {
      const batch = line.splice(0);
      try {
        const taken = await counts.take(account, batch);
        for (const one of batch) one.settle(taken.has(one));
      } catch (error) {
        for (const { fail } of batch) fail(error);
      }
    }
    lines.delete(key);
  };
  return {
    take(account, most, callId) {
      return new Promise((settle, fail) => {
        const line = lines.get(sessionKey(account));
        const wanted = { most, callId, settle, fail };
        if (line !== undefined) return void line.push(wanted);
        const begun = [wanted];
        lines.set(sessionKey(account), begun);
        void work(account, begun);
      });
    },
  };
}

class Counts {
  readonly #bucket: KeyValueBucket<Count>;
  /** Writes whose answer was lost, by the key of their execution. No call ran for them. */
  readonly #unsure = new LRUCache<string, readonly string[]>({ max: unsureKept });

  constructor(bucket: KeyValueBucket<Count>) {
    this.#bucket = bucket;
  }

  /** Those of the batch that fit, or are counted already. */
  async take(account: CallAccount, batch: readonly Waiting[]): Promise<ReadonlySet<Waiting>> {
    const most = Math.min(...batch.map((one) => one.most));
    const taken = await firstAnswer(attempts, async () => {
      const found = await this.#bucket.get(sessionKey(account));
      const had = this.#known(account, found?.value);
      const counted = new Set(had.last.flatMap(({ ids = [] }) => ids));
      const isCounted = ({ callId }: Waiting): boolean => callId !== undefined && counted.has(callId);
      const added = batch.filter((one) => !isCounted(one)).slice(0, Math.max(0, most - had.calls));
      const fits = new Set([...batch.filter(isCounted), ...added]);
      return added.length === 0 || (await this.#add(account, { found, had, added })) ? fits : undefined;
    });
    if (taken !== undefined) return taken;
    throw busy('too many replicas count calls of this execution; try again');
  }

  /** The count without the calls that never ran. */
  #known(account: CallAccount, { calls, last }: Count = { calls: 0, last: [] }): Count {
    const unsure = this.#unsure.get(sessionKey(account)) ?? [];
    const lost = last.filter(({ id }) => unsure.includes(id));
    return {
      calls: lost.reduce((rest, batch) => rest - batch.calls, calls),
      last: last.filter((batch) => !lost.includes(batch)),
    };
  }

  /** False where another replica has counted meanwhile. */
  async #add(account: CallAccount, { found, had, added }: Addition): Promise<boolean> {
    const key = sessionKey(account);
    const id = newId();
    const ids = added.flatMap(({ callId }) => callId ?? []);
    const batch: Batch = { id, calls: added.length, ...(ids.length === 0 ? {} : { ids }) };
    const next = { calls: had.calls + added.length, last: [...had.last, batch].slice(-batchesKept) };
    try {
      const written =
        found === undefined
          ? await this.#bucket.create(key, next, account.tenant)
          : await this.#bucket.update(key, next, found.revision);
      if (written !== undefined) this.#unsure.delete(key);
      return written !== undefined;
    } catch (error) {
      if (error instanceof ShareUsedError) throw busy(`${error.message}; try again`, error);
      this.#unsure.set(key, [...(this.#unsure.get(key) ?? []), id].slice(-batchesKept));
      throw error;
    }
  }
}

/** The call has not run, and may be made in a while. */
const busy = (message: string, cause?: unknown): AppError =>
  new AppError('unavailable', message, { reason: 'CounterBusy', cause });

interface Addition {
  readonly found: KeyValueEntry<Count> | undefined;
  /** The part of it that counts. */
  readonly had: Count;
  readonly added: readonly Waiting[];
}
