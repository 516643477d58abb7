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
export interface WaitingEvent {
  readonly event: WrittenEvent;
  readonly bytes: number;
  /** When it is refused at the latest, in milliseconds since the epoch. */
  readonly end: number;
  /** Called once: without an error when the event is stored. */
  readonly settle: (error?: unknown) => void;
}

interface TenantChainDeps {
  readonly stream: Pick<MessageStream, 'append' | 'last'>;
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
    this.#running ??= this.#run();
  }

  /** Refuses what has waited for too long. */
  sweep(now: number): void {
    if (this.#waiting.every(({ end }) => end > now)) return;
    const late = this.#waiting.filter(({ end }) => end <= now);
    this.#waiting = this.#waiting.filter(({ end }) => end > now);
    for (const { settle } of late) settle(tooLate());
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
    // Events that are added in the same tick share the write.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch();
      try {
        await this.#store(batch);
        for (const { settle } of batch) settle();
      } catch (error) {
        // Whether the message was stored may be open, so the next one begins with a look.
        this.#stored = undefined;
        for (const { settle } of batch) settle(error);
      }
    }
    // In the same breath as the look at what waits: an event that is added now begins a run of its own.
    this.#running = undefined;
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

  /** Tries again behind what another writer stored, until the first event's time is over. */
  async #store(batch: readonly WaitingEvent[]): Promise<void> {
    const { stream, clock } = this.#deps;
    const until = Math.min(...batch.map(({ end }) => end));
    while (clock.now() < until) {
      const stored = await this.#storedEnd();
      const events = chainOf(batch, stored);
      const body = `[${events.map(({ text }) => text).join(',')}]`;
      const { lane, message: after } = stored;
      const message = await stream.append({ tenant: this.tenant, key: lane, body, after });
      if (message !== undefined) {
        const { sequence, hash, time } = events.at(-1) ?? stored.end;
        this.#stored = { lane, message, end: { sequence, hash, time } };
        this.#isUnsigned = true;
        this.usedAt = clock.now();
        return;
      }
      this.#stored = undefined;
    }
    throw tooLate();
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
export const tenantOf = (tenant: string): { readonly tenant?: string } => (tenant === noTenant ? {} : { tenant });

export const tooLate = (): AppError => notStored('the audit event was not stored in time');

/** The answer to a caller that cannot be audited. */
export const notStored = (problem: unknown): AppError =>
  new AppError('unavailable', `nothing was done, as it cannot be audited: ${messageOf(problem)}`, {
    reason: 'AuditUnavailable',
    cause: problem,
  });
