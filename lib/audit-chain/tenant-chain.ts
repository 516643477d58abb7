import { setImmediate } from 'node:timers/promises';
import type { MessageStream } from '../bus/index.ts';
import type { Clock } from '../clock.ts';
import { AppError, messageOf } from '../errors.ts';
import { noTenant } from './audit-streams.ts';
import {
  type ChainedEvent,
  type ChainEnd,
  chainStart,
  isChainedEvent,
  linked,
  type LinkedEvent,
  type WrittenEvent,
} from './chained-event.ts';
import { auditLimits } from './limits.ts';

/** An event that waits for its place. */
interface WaitingEvent {
  readonly id: string;
  readonly event: WrittenEvent;
  readonly bytes: number;
  /** When its caller is refused at the latest, in milliseconds since the epoch. */
  readonly end: number;
  /** When it loses its place at the latest. Later than `end` for outcomes: the caller does not wait so long. */
  readonly kept: number;
  /** The event is not stored yet and keeps its place. May be called more than once. */
  readonly late: (error: unknown) => void;
  /** Called once: without an error when the event is stored. */
  readonly settle: (error?: unknown) => void;
}

interface TenantChainDeps {
  readonly stream: Pick<MessageStream, 'append' | 'last' | 'read'>;
  /** The lane of the moment. Throws AppError `unavailable`. */
  readonly lane: () => Promise<string>;
  /** The end that the newest checkpoint of a lane vouches for. Throws AppError `unavailable`. */
  readonly vouched: (lane: string) => Promise<ChainEnd | undefined>;
  readonly clock: Clock;
}

/** Where the chain ends, by the store. */
interface StoredEnd {
  readonly lane: string;
  readonly end: ChainEnd;
  /** Sequence of the message that holds the end, 0 for none: it guards the next message. */
  readonly message: number;
}

/** A message whose append had no answer, or another writer's: the next message behind `after` may be it. */
interface OpenAppend {
  readonly lane: string;
  readonly after: number;
}

/** Writes the events of one tenant, one message at a time; what comes meanwhile makes up the next one. */
export class TenantChain {
  readonly tenant: string;
  /** When something was stored last, in milliseconds since the epoch. */
  usedAt: number;
  readonly #deps: TenantChainDeps;
  #waiting: WaitingEvent[] = [];
  #stored: StoredEnd | undefined;
  /** Whether this process stored something that no checkpoint vouches for. */
  #isUnsigned = false;
  #open: OpenAppend | undefined;
  /** Ends the pause before the next attempt. */
  #pause: AbortController | undefined;
  /** No event keeps its place for longer, in milliseconds since the epoch. */
  #until = Number.POSITIVE_INFINITY;
  #running: Promise<void> | undefined;

  constructor(deps: TenantChainDeps, tenant: string) {
    this.#deps = deps;
    this.tenant = tenant;
    this.usedAt = deps.clock.now();
  }

  get isBusy(): boolean {
    return this.#running !== undefined || this.#waiting.length > 0;
  }

  add(event: WaitingEvent): void {
    this.#waiting.push(event);
    this.#pause?.abort();
    this.#running ??= this.#run();
  }

  /** Refuses what has waited for too long. An outcome keeps its place while its caller leaves. */
  sweep(now: number): void {
    if (now < this.#until && this.#waiting.every(({ end }) => end > now)) return;
    const late = this.#waiting.filter(({ end }) => end <= now || now >= this.#until);
    const error = tooLate();
    this.#waiting = this.#waiting.filter((event) => this.#isKept(event, now));
    for (const event of late) (this.#isKept(event, now) ? event.late : event.settle)(error);
  }

  /** Lets events wait until then at the longest, in milliseconds since the epoch. */
  finish(until: number): void {
    this.#until = until;
  }

  /** Where the chain ends, if no checkpoint says so yet. */
  newEnd(): { readonly lane: string; readonly end: ChainEnd } | undefined {
    return this.#isUnsigned ? this.#stored : undefined;
  }

  /** A checkpoint vouches for the chain up to a place. */
  signed(sequence: number): void {
    if (this.#stored?.end.sequence === sequence) this.#isUnsigned = false;
  }

  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Events that are added in the same turn of the event loop share the write, those of calls that the last one let go on too.
      await setImmediate();
      this.sweep(this.#deps.clock.now());
      const batch = this.#takeBatch();
      if (batch.length > 0) await this.#attempt(batch);
    }
    // In the same breath as the look at what waits: an event that is added now begins a run of its own.
    this.#running = undefined;
  }

  async #attempt(batch: readonly WaitingEvent[]): Promise<void> {
    let missing = batch;
    try {
      missing = await this.#missing(batch);
      if (missing.length === 0 || (await this.#store(missing))) for (const { settle } of missing) settle();
      else this.#waiting = [...missing, ...this.#waiting];
    } catch (error) {
      // Whether the message was stored may be open, so the next one begins with a look.
      this.#stored = undefined;
      if (this.#keepOutcomes(missing, error)) await this.#rest();
      else this.#open = undefined;
    }
  }

  /** Outcomes wait for the next attempt, at the head of the line; the others are refused. Answers whether any waits. */
  #keepOutcomes(batch: readonly WaitingEvent[], error: unknown): boolean {
    const now = this.#deps.clock.now();
    const canPass = error instanceof AppError && error.code === 'unavailable';
    const waits = (event: WaitingEvent): boolean => canPass && event.kept > event.end && this.#isKept(event, now);
    const kept = batch.filter(waits);
    for (const event of batch) (waits(event) ? event.late : event.settle)(error);
    this.#waiting = [...kept, ...this.#waiting];
    return kept.length > 0;
  }

  #isKept({ kept }: WaitingEvent, now: number): boolean {
    return Math.min(kept, this.#until) > now;
  }

  /** Until the next attempt; an event that is added has it at once. */
  async #rest(): Promise<void> {
    this.#pause = new AbortController();
    await this.#deps.clock.sleep(auditLimits.retryMs, this.#pause.signal);
    this.#pause = undefined;
  }

  #takeBatch(): WaitingEvent[] {
    let bytes = 0;
    let count = 0;
    for (const waiting of this.#waiting.slice(0, auditLimits.batchEvents)) {
      bytes += waiting.bytes;
      if (count > 0 && bytes > auditLimits.batchBytes) break;
      count += 1;
    }
    return this.#waiting.splice(0, count);
  }

  /** Events of the batch that no earlier attempt has stored. Those whose answer was lost are settled here. */
  async #missing(batch: readonly WaitingEvent[]): Promise<readonly WaitingEvent[]> {
    if (this.#open === undefined) return batch;
    const { lane: key, after } = this.#open;
    const [next] = await this.#deps.stream.read({ tenant: this.tenant, key, after, bytes: 1 });
    this.#open = undefined;
    const stored = new Set((next === undefined ? [] : eventsOf(next.body)).map(({ id }) => id));
    for (const { id, settle } of batch) if (stored.has(id)) settle();
    return batch.filter(({ id }) => !stored.has(id));
  }

  /** False where another writer, or an earlier attempt, was first. */
  async #store(batch: readonly WaitingEvent[]): Promise<boolean> {
    const { stream, clock } = this.#deps;
    const stored = await this.#storedEnd();
    const events = chainOf(batch, stored);
    const body = `[${events.map(({ text }) => text).join(',')}]`;
    const { lane, message: after } = stored;
    this.#open = { lane, after };
    const message = await stream.append({ tenant: this.tenant, key: lane, body, after });
    if (message === undefined) {
      this.#stored = undefined;
      return false;
    }
    this.#open = undefined;
    const { sequence, hash, time } = events.at(-1) ?? stored.end;
    this.#stored = { lane, message, end: { sequence, hash, time } };
    this.#isUnsigned = true;
    this.usedAt = clock.now();
    return true;
  }

  async #storedEnd(): Promise<StoredEnd> {
    const lane = await this.#deps.lane();
    if (this.#stored?.lane === lane) return this.#stored;
    const found = await this.#deps.stream.last({ tenant: this.tenant, key: lane });
    const vouched = await this.#deps.vouched(lane);
    const has = endOf(found?.body);
    // The signed end counts before the stored one: a chain that was cut continues behind the gap, which shows the cut.
    const end = vouched !== undefined && vouched.sequence >= has.sequence ? vouched : has;
    this.#stored = { lane, message: found?.sequence ?? 0, end };
    return this.#stored;
  }
}

function chainOf(batch: readonly WaitingEvent[], { lane, end }: StoredEnd): LinkedEvent[] {
  const events: LinkedEvent[] = [];
  let last: ChainEnd = end;
  for (const { event } of batch) {
    const next = linked(event, lane, last);
    events.push(next);
    last = next;
  }
  return events;
}

/** The last event of a stored message. Behind what is none of ours a chain begins anew, which shows it. */
const endOf = (body: Uint8Array | undefined): ChainEnd =>
  (body === undefined ? undefined : eventsOf(body).at(-1)) ?? chainStart;

/** The events of a stored message; none where it is not one of ours. */
export function eventsOf(body: Uint8Array): ChainedEvent[] {
  try {
    const batch: unknown = JSON.parse(Buffer.from(body).toString());
    return Array.isArray(batch) && batch.every(isChainedEvent) ? batch : [];
  } catch {
    return [];
  }
}

/** The tenant of a chain as its events name it. */
export const tenantField = (tenant: string): { readonly tenant?: string } => (tenant === noTenant ? {} : { tenant });

const tooLate = (): AppError => notStored('the audit event was not stored in time');

/** The answer to a caller that cannot be audited. */
export const notStored = (problem: unknown): AppError =>
  new AppError('unavailable', `the act is refused, as it cannot be audited: ${messageOf(problem)}`, {
    reason: 'AuditUnavailable',
    cause: problem,
  });

/** The answer to a caller whose act is done: the event keeps its place. */
export const notStoredYet = (problem: unknown): AppError =>
  new AppError('unavailable', `the outcome is not in the audit yet: ${messageOf(problem)}`, {
    reason: 'AuditUnavailable',
    cause: problem,
  });
