import { setImmediate } from 'node:timers/promises';
import type { Clock } from '../clock.ts';
import { createFairPool, type FairPool, type PoolPart } from '../fair-pool.ts';
import { bytesOf } from '../memory-budget/index.ts';

/** Memory for events that clients have not read. */
export const unreadLimits = {
  /** Streams of all tenants together; one tenant has four fifths at most. */
  poolBytes: bytesOf('unread events'),
  /** A stream may leave as much unread without a place in the pool: idle streams and small events never wait. */
  freeBytes: 8_192,
  /** Pages and pieces of text that the source of a stream may hold while nothing is taken from it. */
  aheadBytes: 196_608,
} as const;

/** A stream whose client has not read what was written. */
export interface UnreadStream {
  readonly tenant: string;
  /** Bytes that wait. */
  readonly unreadBytes: number;
  cutOff(): void;
}

interface Held {
  readonly stream: UnreadStream;
  readonly place: PoolPart;
}

/**
 * Counts the memory of streams whose clients do not read, in a pool that tenants share. A stream that finds no room takes
 * the place of the stream of its tenant that has waited longest, so that clients that read are served on.
 */
export class UnreadEvents {
  readonly #pool: FairPool;
  /** By tenant; the one that waits longest is the first. */
  readonly #waiting = new Map<string, Set<Held>>();

  constructor(clock: Clock, poolBytes: number = unreadLimits.poolBytes) {
    this.#pool = createFairPool({ size: poolBytes, clock });
  }

  /** Waits until `read` resolves. Cuts the stream off where there is no room for what it leaves unread. */
  async wait(stream: UnreadStream, read: Promise<void>): Promise<void> {
    const early = this.#enter(stream);
    // Bytes that the system takes at once are no backlog: events that go to many streams would cut some of them off.
    await Promise.race([read, setImmediate()]);
    if (stream.unreadBytes <= unreadLimits.freeBytes) return early?.leave();
    const place = early ?? this.#makeRoom(stream);
    if (place === undefined) return stream.cutOff();
    const held = { stream, place };
    this.#add(held);
    await read;
    this.#remove(held);
  }

  /** The waiting text, and the values that it was made of. */
  #enter({ tenant, unreadBytes }: UnreadStream): PoolPart | undefined {
    return this.#pool.tryEnter({ tenant, cost: 2 * unreadBytes + unreadLimits.aheadBytes });
  }

  #makeRoom(stream: UnreadStream): PoolPart | undefined {
    let place = this.#enter(stream);
    for (const held of this.#waiting.get(stream.tenant) ?? []) {
      if (place !== undefined) return place;
      this.#remove(held);
      held.stream.cutOff();
      place = this.#enter(stream);
    }
    return place;
  }

  #add(held: Held): void {
    const { tenant } = held.stream;
    const waiting = this.#waiting.get(tenant) ?? new Set();
    this.#waiting.set(tenant, waiting.add(held));
  }

  #remove(held: Held): void {
    const { tenant } = held.stream;
    held.place.leave();
    const waiting = this.#waiting.get(tenant);
    waiting?.delete(held);
    if (waiting?.size === 0) this.#waiting.delete(tenant);
  }
}
