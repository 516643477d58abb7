import { busLimits, type TenantLogs } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { ConversationPlace } from '../../../lib/conversation/place.ts';
import { type ConversationRecord, conversationLogs } from '../../../lib/conversation/record.ts';
import { heldBytes } from '../../../lib/conversation/held-bytes.ts';
import { type ConversationState, emptyState, fold } from '../../../lib/conversation/state.ts';
import { AppError } from '../../../lib/errors.ts';
import type { NewId } from '../../../lib/ids.ts';
import type { Logger } from '../../../lib/logger.ts';
import { patiently } from './patiently.ts';
import { recordsIn } from './read-entries.ts';

/** Another replica has written to the conversation: it drives it now, and this one must stop at once. A caller sends again what it sent. */
class Overtaken extends AppError {
  override readonly name = 'Overtaken';

  constructor() {
    super('cancelled', 'another replica drives the conversation', { reason: 'Overtaken' });
  }
}

/** The driver was asked to stop between two effects, or the execution was cancelled. */
export class Stopped extends AppError {
  override readonly name = 'Stopped';

  constructor() {
    super('cancelled', 'the conversation is driven no more here', { reason: 'Stopped' });
  }
}

/** Whether an error says that this replica drives the conversation no more, which another one may do. */
export const isMoving = (error: unknown): boolean => error instanceof Overtaken || error instanceof Stopped;

/** A record before its time is put on it. */
export type NewRecord = ConversationRecord extends infer R ? (R extends unknown ? Omit<R, 'at'> : never) : never;

interface LogDeps {
  readonly stream: TenantLogs;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly place: ConversationPlace;
  readonly executionId: string;
  /** When the execution began, RFC 3339. */
  readonly startedAt: string | undefined;
  readonly logger: Logger;
  /** Ends retries. */
  readonly signal: AbortSignal;
  /** Aborts, with Stopped, where this replica is about to end: a bus that is away is not waited for any more. */
  readonly giveUp: AbortSignal;
}

/** Ends of tool calls: no other driver can make them again, and a call without one counts as of unknown outcome. */
const onlyHere: ReadonlySet<ConversationRecord['kind']> = new Set(['tool_ended', 'signed_ended']);
/** A server of NATS that is restarted, as in an upgrade of the chart, is back within this. */
const onlyHereMs = 60_000;

/** The log of one conversation as its driver writes it: each append is guarded by the place of the record before. */
export class ConversationLog {
  readonly state: ConversationState = emptyState();
  readonly #overtaken = new AbortController();
  readonly #deps: LogDeps;
  #last = 0;
  /** Appends are made one after another: a judge and a pod may speak at one time. */
  #tail: Promise<unknown> = Promise.resolve();
  #appended = Promise.withResolvers<void>();

  constructor(deps: LogDeps) {
    this.#deps = deps;
  }

  get tenant(): string {
    return this.#deps.place.tenant;
  }

  /** Place of the last record; 0 where there is none. */
  get last(): number {
    return this.#last;
  }

  /** Aborts, with Overtaken, as soon as this replica finds that another one has written: nothing is stored here from then on. */
  get overtaken(): AbortSignal {
    return this.#overtaken.signal;
  }

  /** Resolves with the next record that is stored here. */
  get appended(): Promise<void> {
    return this.#appended.promise;
  }

  /**
   * Takes in what is stored. False where the texts take more than so many bytes before all of it is read: the next call
   * reads on.
   */
  async load(mostBytes = Number.POSITIVE_INFINITY): Promise<boolean> {
    const { tenant } = this;
    const { stream, executionId: key } = this.#deps;
    const bytes = busLimits.pageBytes;
    for (;;) {
      const page = await patiently(this.#deps, () => stream.read({ tenant, key, after: this.#last, bytes }));
      for await (const { sequence, record } of recordsIn(page)) {
        fold(this.state, record);
        this.#last = sequence;
      }
      if (page.length === 0) break;
      if (heldBytes(this.state) > mostBytes) return false;
    }
    if (this.#last === 0) await this.#requireNothingLost();
    else this.#requireBeginning();
    return true;
  }

  /** @throws AppError `ConversationLost` where the stream has dropped its beginning, for its age or to make room. */
  #requireBeginning(): void {
    if (this.state.started !== undefined || this.state.result !== undefined) return;
    throw this.#isOutlived ? outlived() : lost();
  }

  get #isOutlived(): boolean {
    const { startedAt, clock } = this.#deps;
    return startedAt !== undefined && clock.now() - Date.parse(startedAt) >= conversationLogs.retention.maxAgeMs;
  }

  /**
   * An execution without any record has not begun, or all of its records were dropped: then it must not begin again, since
   * its tools have run. Places say which, as neither an idle log nor the clocks of two machines do.
   * @throws AppError `ConversationLost` where the log has dropped anything that was written since the claim.
   */
  async #requireNothingLost(): Promise<void> {
    const { stream, place } = this.#deps;
    const { first, last } = await patiently(this.#deps, () => stream.bounds(place.tenant));
    // A log that ends before the place was made anew.
    if (first <= place.behind + 1 && last >= place.behind) return;
    throw this.#isOutlived ? outlived() : lost();
  }

  /**
   * Stores a record, however long the bus is away, and takes it in.
   * @throws Overtaken where another replica wrote in between; the reason of the signal where that aborts; Stopped where this
   * replica is about to end and the bus stays away.
   */
  append(record: NewRecord): Promise<number> {
    return this.appendMade(() => record);
  }

  /**
   * As `append`, of what `make` returns when the turn of the append has come: the state is then as of the record before.
   * Undefined where it returns nothing. @throws what `make` throws.
   */
  appendMade(make: () => NewRecord): Promise<number>;
  appendMade(make: () => NewRecord | undefined): Promise<number | undefined>;
  appendMade(make: () => NewRecord | undefined): Promise<number | undefined> {
    return this.#inOrder(async () => {
      const record = make();
      return record === undefined ? undefined : await this.#append(record);
    });
  }

  /** Asks the log whether another replica has written. False where the bus does not say: a later look will. Never rejects. */
  look(): Promise<boolean> {
    const { stream, place, executionId: key } = this.#deps;
    // Between two appends: a record whose answer is on its way is our own.
    return this.#inOrder(async () => {
      if (this.overtaken.aborted) return true;
      try {
        const newest = await stream.peek({ tenant: place.tenant, key });
        if (newest !== undefined && newest.sequence > this.#last) this.#overtaken.abort(new Overtaken());
        return true;
      } catch {
        return false;
      }
    });
  }

  #inOrder<T>(task: () => Promise<T>): Promise<T> {
    const done = this.#tail.then(task);
    this.#tail = done.catch(() => undefined);
    return done;
  }

  async #append(fields: NewRecord): Promise<number> {
    this.overtaken.throwIfAborted();
    const { tenant } = this;
    const { stream, clock, newId, executionId: key } = this.#deps;
    const record = { ...fields, at: new Date(clock.now()).toISOString() } as ConversationRecord;
    // The server stores one message of an id: an append whose answer was lost is made again without harm.
    const message = { tenant, key, body: JSON.stringify(record), id: newId(), after: this.#last };
    const lastTriesMs = onlyHere.has(record.kind) ? onlyHereMs : undefined;
    const sequence = await patiently({ ...this.#deps, lastTriesMs }, () => stream.append(message));
    if (sequence === undefined) {
      this.#overtaken.abort(new Overtaken());
      throw this.overtaken.reason;
    }
    this.#last = sequence;
    fold(this.state, record);
    this.#appended.resolve();
    this.#appended = Promise.withResolvers();
    return sequence;
  }
}

const lost = (): AppError =>
  new AppError(
    'not_found',
    "the tenant's conversations took more than its share of nats.conversations.maxMb, so the beginning of this one was dropped; run fewer agents at a time, or ask the operator for more",
    { reason: 'ConversationLost' },
  );

const outlived = (): AppError =>
  new AppError(
    'not_found',
    `conversations are kept for ${conversationLogs.retention.maxAgeMs / 86_400_000} days, and this execution began earlier, so its beginning was dropped; start it again with a shorter wait for a person`,
    { reason: 'ConversationLost' },
  );
