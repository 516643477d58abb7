import type { HeardSession } from '../../lib/envelope/index.ts';
import type { FairPool, PoolPart } from '../../lib/fair-pool.ts';
import { textBytes } from '../../lib/heap-bytes.ts';

/** A part of a tenant's sessions. */
export interface SessionRange {
  /** Only those behind this execution id. Default: from the first. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** Sessions of one tenant in the order of their execution ids, within the tenant's share of a pool of bytes. */
export interface TenantSessions {
  readonly size: number;
  get(executionId: string): HeardSession | undefined;
  /** Looks at no more sessions than those that it gives and those that `isShown` leaves out between them. */
  range(range: SessionRange, isShown: (session: HeardSession) => boolean): readonly HeardSession[];
  /** Holds the room that `put` will need, until it is given back; undefined where the share has none. */
  reserve(session: HeardSession): Disposable | undefined;
  /** False where the share has no room; the session of that execution is dropped then. */
  put(session: HeardSession): boolean;
  drop(executionId: string): void;
  /** How many were dropped. */
  dropWhere(isOver: (session: HeardSession) => boolean): number;
  clear(): void;
}

/** Bytes of heap that a session takes beside its texts: its fields, its places in the index. */
const ownBytes = 320;

const bytesOf = (session: HeardSession): number =>
  Object.values(session).reduce<number>(
    (sum, part) => sum + (typeof part === 'string' ? textBytes(part) : 0),
    ownBytes,
  );

export function createTenantSessions(pool: FairPool, tenant: string): TenantSessions {
  return new OrderedSessions(pool, tenant);
}

class OrderedSessions implements TenantSessions {
  readonly #pool: FairPool;
  readonly #tenant: string;
  readonly #byId = new Map<string, HeardSession>();
  /** In order. */
  #ids: string[] = [];
  /** Bytes of the sessions, and those that are reserved. */
  #bytes = 0;
  #reserved = 0;
  #place: PoolPart | undefined;

  constructor(pool: FairPool, tenant: string) {
    this.#pool = pool;
    this.#tenant = tenant;
  }

  get size(): number {
    return this.#byId.size;
  }

  get(executionId: string): HeardSession | undefined {
    return this.#byId.get(executionId);
  }

  range({ after, limit }: SessionRange, isShown: (session: HeardSession) => boolean): readonly HeardSession[] {
    const rows: HeardSession[] = [];
    for (let at = after === undefined ? 0 : this.#firstAfter(after); at < this.#ids.length; at += 1) {
      if (rows.length >= limit) break;
      const session = this.#byId.get(this.#ids[at] ?? '');
      if (session !== undefined && isShown(session)) rows.push(session);
    }
    return rows;
  }

  reserve(session: HeardSession): Disposable | undefined {
    const bytes = Math.max(0, bytesOf(session) - this.#bytesAt(session.execution_id));
    if (!this.#hold(this.#bytes + bytes)) return undefined;
    this.#reserved += bytes;
    let held = bytes;
    return {
      [Symbol.dispose]: () => {
        this.#reserved -= held;
        this.#hold(this.#bytes - held);
        held = 0;
      },
    };
  }

  put(session: HeardSession): boolean {
    this.drop(session.execution_id);
    if (!this.#hold(this.#bytes + bytesOf(session))) return false;
    this.#byId.set(session.execution_id, session);
    this.#ids.splice(this.#firstAfter(session.execution_id), 0, session.execution_id);
    return true;
  }

  drop(executionId: string): void {
    const bytes = this.#bytesAt(executionId);
    if (!this.#byId.delete(executionId)) return;
    this.#ids.splice(this.#firstAfter(executionId) - 1, 1);
    this.#hold(this.#bytes - bytes);
  }

  dropWhere(isOver: (session: HeardSession) => boolean): number {
    const over = [...this.#byId.values()].filter(isOver);
    if (over.length === 0) return 0;
    for (const { execution_id: id } of over) this.#byId.delete(id);
    this.#ids = this.#ids.filter((id) => this.#byId.has(id));
    this.#hold(this.#bytes - over.reduce((sum, session) => sum + bytesOf(session), 0));
    return over.length;
  }

  clear(): void {
    this.#byId.clear();
    this.#ids = [];
    this.#hold(this.#reserved);
  }

  #bytesAt(executionId: string): number {
    const found = this.#byId.get(executionId);
    return found === undefined ? 0 : bytesOf(found);
  }

  /** Takes or gives back what makes it so many bytes; false, and nothing changes, where the share is less. */
  #hold(bytes: number): boolean {
    if (bytes > this.#bytes) {
      if (this.#place === undefined) this.#place = this.#pool.tryEnter({ tenant: this.#tenant, cost: bytes });
      else if (!this.#place.growTo(bytes)) return false;
      if (this.#place === undefined) return false;
    } else this.#place?.shrinkTo(bytes);
    if (bytes === 0) this.#place = undefined;
    this.#bytes = bytes;
    return true;
  }

  /** Place of the first id that is greater. */
  #firstAfter(id: string): number {
    let [from, to] = [0, this.#ids.length];
    while (from < to) {
      const middle = (from + to) >>> 1;
      if ((this.#ids[middle] ?? '') > id) to = middle;
      else from = middle + 1;
    }
    return from;
  }
}
