import { setImmediate } from 'node:timers/promises';
import type { EventBus, MessageStream, StreamMessage } from '../bus/index.ts';
import type { Clock } from '../clock.ts';
import { createFairPool } from '../fair-pool.ts';
import { auditStream, checkpointStream, noTenant } from './audit-streams.ts';
import type { ChainedEvent } from './chained-event.ts';
import { type Checkpoint, checkpointOf } from './checkpoint.ts';
import { auditLimits } from './limits.ts';
import { eventsOf } from './tenant-chain.ts';

/** Which events a reader wants. */
export interface AuditQuery {
  /** Undefined: of all tenants, and of none. */
  readonly tenant: string | undefined;
  readonly types: readonly string[];
  /** Milliseconds since the epoch: from this time on, and before that one. */
  readonly from?: number;
  readonly to?: number;
  readonly cursor?: AuditCursor;
  readonly limit: number;
}

/** Where to continue: behind an event of a stored message. */
interface AuditCursor {
  readonly message: number;
  /** Events of that message which were read already. */
  readonly read: number;
}

interface AuditPage {
  readonly events: readonly ChainedEvent[];
  /** Behind the last event that was looked at. */
  readonly end: AuditCursor;
  /** Whether there may be more now. */
  readonly hasMore: boolean;
}

interface CheckpointPage {
  readonly checkpoints: readonly Checkpoint[];
  /** Where the next page begins; absent on the last one. */
  readonly next?: number;
}

/** For whom a read is made, and when it ends. */
interface AuditReader {
  /** The tenant that waits for a turn, which is that of the caller. */
  readonly of: string | undefined;
  /** Ends the read, as where its caller has left. */
  readonly signal?: AbortSignal;
}

/**
 * Reads what the gateways of an installation recorded, few readers at a time, of one tenant not all of them. Calls throw
 * AppError `unavailable` without NATS or a turn, and the reason of the signal where that aborts.
 */
export interface AuditRecord {
  /**
   * Events, the oldest first, in the order of the store. A page may hold fewer than there are, even none, and have a
   * next page.
   */
  page(query: AuditQuery, reader: AuditReader): Promise<AuditPage>;
  /** The kept checkpoints of one tenant, or of all, from the place that the page before named. Default: from the first. */
  checkpoints(tenant: string | undefined, reader: AuditReader, after?: number): Promise<CheckpointPage>;
  /** When the oldest message of the store was stored, of whichever chain. RFC 3339. */
  retainedFrom(): Promise<string | undefined>;
}

interface AuditRecordDeps {
  readonly bus: Pick<EventBus, 'stream'>;
  readonly clock: Clock;
}

export function createAuditRecord({ bus, clock }: AuditRecordDeps): AuditRecord {
  const { readsAtOnce: size, readsWaiting: waiting, readWaitMs: waitMs } = auditLimits;
  const reads = createFairPool({ size, waiting, waitMs, clock });
  const inTurn = <T>({ of: tenant = noTenant, signal }: AuditReader, read: () => Promise<T>): Promise<T> =>
    reads.run({ tenant, ...(signal && { signal }) }, read);
  const events = bus.stream(auditStream);
  const checkpoints = bus.stream(checkpointStream);
  return {
    page: (query, reader) => inTurn(reader, () => readPage(events, query, reader.signal)),
    checkpoints: (tenant, reader, after = 0) =>
      inTurn(reader, () => readCheckpoints(checkpoints, { tenant, after }, reader.signal)),
    retainedFrom: async () => (await events.oldest())?.time,
  };
}

async function readPage(stream: MessageStream, query: AuditQuery, signal?: AbortSignal): Promise<AuditPage> {
  const reader = new PageReader(query);
  let after = await beginOf(stream, query);
  for (let [looked, bytes] = [0, 0]; looked < auditLimits.pageMessages && bytes < auditLimits.pageBytes; ) {
    signal?.throwIfAborted();
    const messages = await stream.scan({ tenant: query.tenant, after, bytes: auditLimits.readBytes });
    if (messages.length === 0) return reader.page(false);
    for (const message of messages) {
      // Each message is parsed in a turn of the event loop of its own.
      await setImmediate();
      signal?.throwIfAborted();
      if (reader.take(message)) return reader.page(true);
      bytes += message.body.byteLength;
    }
    looked += messages.length;
    after = messages.at(-1)?.sequence ?? after;
  }
  return reader.page(true);
}

/** The sequence behind which a page begins: that of the cursor, or of the time. */
async function beginOf(stream: MessageStream, { cursor, from }: AuditQuery): Promise<number> {
  // The message of the cursor is read again: it may hold more events.
  if (cursor !== undefined) return Math.max(0, cursor.message - 1);
  // The store finds a place by its own clock, an event has its time from that of its gateway.
  return from === undefined ? 0 : stream.before(Math.max(0, from - clockSkewMs));
}

/** How far the clock of a gateway may be ahead of that of the store; `#isWanted` leaves out what is older than `from`. */
const clockSkewMs = 30_000;

class PageReader {
  readonly #query: AuditQuery;
  readonly #events: ChainedEvent[] = [];
  #end: AuditCursor;

  constructor(query: AuditQuery) {
    this.#query = query;
    this.#end = query.cursor ?? { message: 0, read: 0 };
  }

  /** Whether the page is full. */
  take({ body, sequence }: StreamMessage): boolean {
    const { cursor, limit } = this.#query;
    const batch = eventsOf(body);
    const read = cursor?.message === sequence ? cursor.read : 0;
    for (const [index, event] of batch.entries()) {
      if (index < read) continue;
      if (this.#events.length >= limit) return true;
      if (this.#isWanted(event)) this.#events.push(event);
      this.#end = { message: sequence, read: index + 1 };
    }
    this.#end = { message: sequence, read: batch.length };
    return false;
  }

  page(hasMore: boolean): AuditPage {
    return { events: this.#events, end: this.#end, hasMore };
  }

  #isWanted({ type, time }: ChainedEvent): boolean {
    const { types, from = Number.NEGATIVE_INFINITY, to = Number.POSITIVE_INFINITY } = this.#query;
    const at = Date.parse(time);
    return at >= from && at < to && (types.length === 0 || types.includes(type));
  }
}

/** A part of them would vouch for less than all do, so the page says where the others begin. */
async function readCheckpoints(
  stream: MessageStream,
  from: { readonly tenant: string | undefined; readonly after: number },
  signal?: AbortSignal,
): Promise<CheckpointPage> {
  const checkpoints: Checkpoint[] = [];
  let { after } = from;
  for (let left = auditLimits.pageCheckpoints; left > 0; ) {
    signal?.throwIfAborted();
    const messages = await stream.scan({ ...from, after, bytes: auditLimits.readBytes });
    if (messages.length === 0) return { checkpoints };
    const taken = messages.slice(0, left);
    checkpoints.push(...taken.flatMap(({ body }) => checkpointOf(body) ?? []));
    left -= taken.length;
    after = taken.at(-1)?.sequence ?? after;
  }
  return { checkpoints, next: after };
}
