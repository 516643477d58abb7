import { aborted } from '../../lib/aborted.ts';
import type { EventBus, KeyValueChange } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  type HeardSession,
  heardOf,
  type SealSession,
  sessionBucket,
  type SessionName,
} from '../../lib/envelope/index.ts';
import { startDeadline } from '../../lib/deadline.ts';
import { AppError, messageOf } from '../../lib/errors.ts';
import { createFairPool } from '../../lib/fair-pool.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import type { Logger } from '../../lib/logger.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { createTenantSessions, type SessionRange, type TenantSessions } from './tenant-sessions.ts';

/**
 * Active sessions as this replica has heard of them, without what lists and calls read from the bus as well. A session
 * that is over, or that the share of its tenant has no room for, is left out: calls in it ask the bus.
 */
export interface SessionView {
  /** That of a name, which may have changed meanwhile. */
  of(name: SessionName): HeardSession | undefined;
  /** Resolves when all sessions are read. @throws AppError `unavailable` where that takes long, as without the bus. */
  read(): Promise<void>;
  /** Those of a tenant behind an execution id, in the order of their execution ids, `limit` at most. */
  range(tenant: string, range: SessionRange): readonly HeardSession[];
  /**
   * Holds room for one more session, until it is given back: requests of the same moment count each other.
   * @throws HttpError 429 where the tenant's share of the memory has none.
   */
  reserve(session: SealSession): Disposable;
  /** Takes a session that this replica has written itself. */
  remember(session: SealSession): void;
  /** Follows the sessions until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

interface ViewDeps {
  readonly bus: Pick<EventBus, 'watch' | 'problem'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Sessions that are left out. Default: none. */
  readonly isOrphan?: (session: HeardSession) => boolean;
  /** Bytes of all sessions. Default: as the memory budget says. */
  readonly size?: number;
}

/** How often sessions that are over are let go. */
const sweepMs = 10_000;
/** A full share is looked through once in so long: it may hold tens of thousands of sessions. */
const sweepAgainMs = 1_000;
/** How long a list waits for sessions that are being read. */
const readMs = 5_000;

export function createSessionView(deps: ViewDeps): SessionView {
  return new FollowedSessions(deps);
}

class FollowedSessions implements SessionView {
  readonly #deps: ViewDeps;
  readonly #pool;
  readonly #isOrphan: (session: HeardSession) => boolean;
  readonly #byTenant = new Map<string, TenantSessions>();
  /** When the sessions of a tenant were looked through for want of room, in milliseconds since the Unix epoch. */
  readonly #sweptAt = new Map<string, number>();
  /** Resolves when the watch has named every session. */
  #current = Promise.withResolvers<void>();
  #isCurrent = false;

  constructor(deps: ViewDeps) {
    const { clock, isOrphan = () => false, size = bytesOf('sessions of signed calls') } = deps;
    this.#deps = deps;
    this.#isOrphan = isOrphan;
    this.#pool = createFairPool({ size, clock });
  }

  of({ tenant, execution_id: id }: SessionName): HeardSession | undefined {
    const found = this.#byTenant.get(tenant)?.get(id);
    return found === undefined || this.#isOver(found) ? undefined : found;
  }

  async read(): Promise<void> {
    if (!this.#isCurrent) {
      using deadline = startDeadline(this.#deps.clock, readMs);
      await Promise.race([this.#current.promise, aborted(deadline.signal)]);
    }
    if (this.#isCurrent && this.#deps.bus.problem() === undefined) return;
    throw new AppError('unavailable', 'the sessions are not read yet; try again', { reason: 'SessionsUnread' });
  }

  range(tenant: string, range: SessionRange): readonly HeardSession[] {
    return this.#byTenant.get(tenant)?.range(range, (session) => !this.#isOver(session)) ?? [];
  }

  reserve(session: SealSession): Disposable {
    const sessions = this.#of(session.tenant);
    const heard = heardOf(session);
    const room = sessions.reserve(heard) ?? (this.#sweepSeldom(session.tenant) ? sessions.reserve(heard) : undefined);
    this.#forgetEmpty(session.tenant);
    if (room === undefined) throw shareUsed(this.#pool.share);
    return room;
  }

  remember(session: SealSession): void {
    const sessions = this.#of(session.tenant);
    const heard = heardOf(session);
    const isActive = session.revoked !== true && session.pending !== true && Date.parse(session.expires_at) > this.#now;
    if (!isActive) sessions.drop(session.execution_id);
    else if (!sessions.put(heard) && this.#sweepSeldom(session.tenant)) sessions.put(heard);
    this.#forgetEmpty(session.tenant);
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#follow(signal), this.#sweepOften(signal)]);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { bus, logger } = this.#deps;
    try {
      for await (const change of bus.watch<SealSession>(sessionBucket, signal)) this.#take(change);
    } catch (error) {
      logger.error({ problem: messageOf(error) }, 'sessions are not followed');
    }
  }

  /** No key of the bucket is freed: a session ends by its time, or by its revocation. */
  #take(change: KeyValueChange<SealSession>): void {
    if (change.kind === 'put') this.remember(change.value);
    if (change.kind === 'current') {
      this.#isCurrent = true;
      this.#current.resolve();
    }
    if (change.kind !== 'begin' && change.kind !== 'lost') return;
    if (this.#isCurrent) this.#current = Promise.withResolvers();
    this.#isCurrent = false;
    // Calls find what was heard until the next watch names it anew: they read the stored session too.
    if (change.kind === 'lost') return;
    for (const sessions of this.#byTenant.values()) sessions.clear();
    this.#byTenant.clear();
  }

  async #sweepOften(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#deps.clock.sleep(sweepMs, signal);
      for (const [tenant, sessions] of this.#byTenant) {
        this.#sweep(sessions);
        this.#forgetEmpty(tenant);
      }
    }
  }

  /** As `#sweep`, and false where the tenant's sessions were looked through a moment ago. */
  #sweepSeldom(tenant: string): boolean {
    const now = this.#now;
    if (now - (this.#sweptAt.get(tenant) ?? Number.NEGATIVE_INFINITY) < sweepAgainMs) return false;
    this.#sweptAt.set(tenant, now);
    return this.#sweep(this.#of(tenant));
  }

  /** Whether there was one that is over. */
  #sweep(sessions: TenantSessions): boolean {
    return sessions.dropWhere((session) => this.#isOver(session)) > 0;
  }

  get #now(): number {
    return this.#deps.clock.now();
  }

  #isOver(session: HeardSession): boolean {
    return Date.parse(session.expires_at) <= this.#now || this.#isOrphan(session);
  }

  #of(tenant: string): TenantSessions {
    const known = this.#byTenant.get(tenant);
    if (known !== undefined) return known;
    const sessions = createTenantSessions(this.#pool, tenant);
    this.#byTenant.set(tenant, sessions);
    return sessions;
  }

  #forgetEmpty(tenant: string): void {
    if (this.#byTenant.get(tenant)?.size !== 0) return;
    this.#byTenant.delete(tenant);
    this.#sweptAt.delete(tenant);
  }
}

const shareUsed = (bytes: number): HttpError =>
  new HttpError({
    code: 'limit_exceeded',
    status: 429,
    error: 'session_share_used',
    message:
      `active sessions of one tenant have at most ${bytes} bytes of a replica's memory, less beside other tenants; ` +
      'revoke sessions, or wait until they expire',
  });
