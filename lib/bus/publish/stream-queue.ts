import { AppError, messageOf } from '../../errors.ts';
import { type Clock, resultWithin } from '../../clock.ts';
import { mayHold } from '../../fair-pool.ts';
import type { Logger } from '../../logger.ts';
import type { BusObserver } from '../bus-observer.ts';
import type { BusEvent, EventPublisher } from '../event-bus.ts';

/** The content of a queue. */
export interface Held {
  events: number;
  bytes: number;
}

interface StreamQueueDeps {
  readonly publisher: EventPublisher;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly observer: Pick<BusObserver, 'dropped'>;
  /** Name of the stream, for the log. */
  readonly stream: string;
  /** Called when something has come or gone. */
  readonly onChange: () => void;
}

/** Before a bus that is away is tried again. */
const retryMs = 500;

/** Between two batches. The first event after a quiet time is written at once; under load many share a write. */
const gatherMs = 25;

/** Events under way at once. They go over one connection, so the store meets them in their order. */
const batchSize = 64;

interface Waiting {
  readonly event: BusEvent;
  readonly bytes: number;
}

/** Events that wait for one stream, in the order in which they were raised. */
export class StreamQueue {
  readonly #deps: StreamQueueDeps;
  readonly #limits: Readonly<Held>;
  readonly #queue: Waiting[] = [];
  readonly #abandon = new AbortController();
  /** Aborts when there is no time left to gather. */
  readonly #hurry = new AbortController();
  /** Queue of each tenant. */
  readonly #held = new Map<string, Held>();
  #bytes = 0;
  #isClosed = false;
  /** Whether the log knows already that events are being dropped; anew after each time that all could be stored. */
  #hasLoggedDrop = false;
  /** Cause, known to the log already, for which the stream takes nothing. */
  #problem: string | undefined;
  #sending: Promise<void> | undefined;

  constructor(deps: StreamQueueDeps, limits: Readonly<Held>) {
    this.#deps = deps;
    this.#limits = limits;
  }

  get held(): Readonly<Held> {
    return { events: this.#queue.length, bytes: this.#bytes };
  }

  raise(event: BusEvent): void {
    if (this.#isClosed) return this.#deps.observer.dropped('stopped', 1);
    const bytes = Buffer.byteLength(JSON.stringify(event));
    if (!this.#hasRoom(event.tenant, bytes)) return this.#tellFull();
    this.#queue.push({ event, bytes });
    this.#count([{ event, bytes }], 1);
    this.#sending ??= this.#send();
  }

  /** Takes nothing more; resolves when all is stored, after `graceMs` at the latest. The rest is dropped then. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true;
    this.#hurry.abort();
    if (this.#sending !== undefined) await resultWithin(this.#deps.clock, graceMs, this.#sending);
    this.#abandon.abort();
    if (this.#queue.length === 0) return;
    const { logger, observer, stream } = this.#deps;
    logger.warn({ stream, events: this.#queue.length }, 'events lost at the end of the process');
    observer.dropped('stopped', this.#queue.length);
  }

  async #send(): Promise<void> {
    // Events that are raised in the same tick share the write.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      if (await this.#sendBatch()) await this.#deps.clock.sleep(gatherMs, this.#hurry.signal);
      else await this.#deps.clock.sleep(retryMs, this.#abandon.signal);
      if (this.#abandon.signal.aborted) return;
    }
    this.#hasLoggedDrop = false;
    this.#sending = undefined;
  }

  /** Whether nothing is left of the events that are first in line. Events raised meanwhile make the next batch. */
  async #sendBatch(): Promise<boolean> {
    const batch = this.#queue.slice(0, batchSize);
    const done = await Promise.all(batch.map(({ event }) => this.#isDone(event)));
    const left = batch.filter((_, index) => done[index] !== true);
    this.#queue.splice(0, batch.length, ...left);
    this.#count(batch, -1);
    this.#count(left, 1);
    if (left.length === 0) this.#tellTaken();
    return left.length === 0;
  }

  /** Whether the event is stored, or never will be. */
  async #isDone(event: BusEvent): Promise<boolean> {
    try {
      await this.#deps.publisher.publish(event);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === 'unavailable') {
        this.#tellHeld(error);
        return false;
      }
      this.#deps.logger.error({ type: event.type, problem: messageOf(error) }, 'event refused by the bus');
      this.#deps.observer.dropped('refused', 1);
      return true;
    }
  }

  /** Once for each cause. That the bus itself is away, which has no cause, is logged by the keeper of its connection. */
  #tellHeld({ cause }: AppError): void {
    if (cause === undefined) return;
    const problem = messageOf(cause);
    if (problem === this.#problem) return;
    this.#problem = problem;
    const { logger, stream } = this.#deps;
    logger.warn({ stream, problem, events: this.#queue.length }, 'event stream takes no events, they wait');
  }

  #tellTaken(): void {
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    this.#deps.logger.info({ stream: this.#deps.stream }, 'event stream takes events again');
  }

  #tellFull(): void {
    const { logger, observer, stream } = this.#deps;
    observer.dropped('full', 1);
    if (this.#hasLoggedDrop) return;
    this.#hasLoggedDrop = true;
    const problem = this.#problem === undefined ? {} : { problem: this.#problem };
    logger.warn({ stream, ...this.held, ...problem }, 'outbox full, dropping events');
  }

  #hasRoom(tenant: string, bytes: number): boolean {
    const held = this.#held.get(tenant) ?? { events: 0, bytes: 0 };
    const free = { events: this.#limits.events - this.#queue.length, bytes: this.#limits.bytes - this.#bytes };
    return mayHold(held.events, free.events) && mayHold(held.bytes, free.bytes, bytes);
  }

  /** Adds waiting events, or takes them off. */
  #count(waiting: readonly Waiting[], sign: 1 | -1): void {
    for (const { event, bytes } of waiting) {
      const held = this.#held.get(event.tenant) ?? { events: 0, bytes: 0 };
      held.events += sign;
      held.bytes += sign * bytes;
      this.#bytes += sign * bytes;
      if (held.events === 0) this.#held.delete(event.tenant);
      else this.#held.set(event.tenant, held);
    }
    this.#deps.onChange();
  }
}
