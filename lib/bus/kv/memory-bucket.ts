import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { mayHold } from '../../fair-pool.ts';
import { type BucketDefinition, heldIn } from './bucket-definition.ts';
import type { KeyValueBucket } from '../event-bus.ts';
import { endsUntilRoom, mostOf } from './key-room.ts';
import { ShareUsedError } from './share-used-error.ts';

/** Entries of one bucket: a key and a reservation take some 500 bytes. Then no more are taken, so that none is forgotten early. */
const entriesMax = 100_000;

interface Entry<T> {
  readonly value: T;
  readonly revision: number;
  readonly until: number;
  readonly tenant: string;
}

/**
 * A bucket in the memory of this process, for an installation without a bus, which has one replica (requirements
 * AMB-182). It ends with the process. One tenant has four fifths of it at most, and the last free places go to tenants
 * that have none (`mayHold`). Throws AppError `unavailable` where it is full.
 */
export function createMemoryBucket<T>(
  clock: Clock,
  definition: BucketDefinition,
  most = entriesMax,
): KeyValueBucket<T> {
  return new MemoryBucket<T>(clock, definition, most);
}

class MemoryBucket<T> implements KeyValueBucket<T> {
  readonly #clock: Clock;
  readonly #definition: BucketDefinition;
  readonly #most: number;
  /** In the order in which they end, and so are the keys of a tenant. */
  readonly #entries = new Map<string, Entry<T>>();
  readonly #keysOf = new Map<string, Set<string>>();
  #revision = 0;

  constructor(clock: Clock, definition: BucketDefinition, most: number) {
    this.#clock = clock;
    this.#definition = definition;
    this.#most = most;
  }

  async get(key: string) {
    const found = this.#current(key);
    return found && { value: found.value, revision: found.revision };
  }

  async create(key: string, value: T, tenant: string) {
    if (this.#current(key) !== undefined) return undefined;
    this.#assertRoom(tenant);
    return this.#write(key, value, tenant);
  }

  async update(key: string, value: T, expected: number) {
    const found = this.#current(key);
    return found?.revision === expected ? this.#write(key, value, found.tenant) : undefined;
  }

  note(key: string, value: T, expected: number) {
    void this.update(key, value, expected);
  }

  async roomFor(tenant: string, keys: number) {
    // Those whose time is over leave with a look.
    this.#current('');
    const own = [...(this.#keysOf.get(tenant) ?? [])];
    const held = { own: own.length, free: this.#most - this.#entries.size };
    const ends = endsUntilRoom(held, keys);
    const last = ends === undefined ? undefined : this.#entries.get(own[ends - 1] ?? '');
    const untilRoomMs = ends === 0 ? 0 : last && last.until - this.#clock.now();
    const most = mostOf({ own: 0, free: this.#most }, this.#most);
    return { used: held.own, room: mostOf(held, keys), untilRoomMs, most };
  }

  async delete(key: string, expected: number) {
    if (this.#current(key)?.revision === expected) this.#forget(key);
  }

  #assertRoom(tenant: string): void {
    const free = this.#most - this.#entries.size;
    const keys = this.#keysOf.get(tenant);
    if (mayHold(keys?.size ?? 0, free)) return;
    const [oldest = ''] = keys ?? [];
    const first = this.#entries.get(oldest);
    if (first === undefined) throw full(this.#definition);
    const now = this.#clock.now();
    throw new ShareUsedError(this.#definition, { used: keys?.size ?? 0, retryAfterMs: first.until - now, now });
  }

  #current(key: string): Entry<T> | undefined {
    for (const [ended, { until }] of this.#entries) {
      if (until > this.#clock.now()) break;
      this.#forget(ended);
    }
    return this.#entries.get(key);
  }

  #write(key: string, value: T, tenant: string): number {
    this.#revision += 1;
    this.#forget(key);
    this.#entries.set(key, {
      value,
      tenant,
      revision: this.#revision,
      until: this.#clock.now() + this.#definition.ttlMs,
    });
    const keys = this.#keysOf.get(tenant) ?? new Set();
    this.#keysOf.set(tenant, keys.add(key));
    return this.#revision;
  }

  #forget(key: string): void {
    const { tenant = '' } = this.#entries.get(key) ?? {};
    const keys = this.#keysOf.get(tenant);
    this.#entries.delete(key);
    keys?.delete(key);
    if (keys?.size === 0) this.#keysOf.delete(tenant);
  }
}

const full = (definition: BucketDefinition): AppError =>
  new AppError('unavailable', `too many ${heldIn(definition)} are remembered; configure an event bus`, {
    reason: 'BucketFull',
  });
