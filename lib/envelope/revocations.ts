import type { EventBus, KeyValueChange, Responder } from '../bus/index.ts';
import type { Clock } from '../clock.ts';
import { AppError, messageOf } from '../errors.ts';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import type { CallsUnderWay } from './calls-under-way.ts';
import { sessionKey, type SessionName, type SealSessions } from './sessions.ts';

/**
 * Revokes sessions over every replica of gateway and API that takes signed calls (ADR 0056). A call enters the list of
 * its replica, creates its replay key, and then reads its session from the leader. A revocation is written first, and
 * then asks every replica for the end of the calls that had entered. So no call begins after `revoke` has resolved.
 */
export interface Revocations {
  /**
   * False where there is no session. @throws AppError `unavailable` with the reason `CallsUnderWay` where a replica
   * does not say in time that its calls have ended, or this one does not learn in time which others there are. The
   * session is revoked then, and a repeated call waits again.
   */
  revoke(name: SessionName): Promise<boolean>;
  /** Resolves when `drained` of this key has ended at every replica. @throws as `revoke`. */
  settled(key: string): Promise<void>;
  /** Resolves when the other replicas can know of this one; before that it may take no signed calls. */
  open(signal: AbortSignal): Promise<void>;
  /** Renews the lease of this replica and follows those of the others until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
  /** After the last call has ended. */
  close(): Promise<void>;
}

interface RevocationsDeps {
  readonly bus: Pick<EventBus, 'bucket' | 'watch' | 'serve' | 'requestAll'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: NewId;
  readonly sessions: SealSessions;
  readonly calls: Pick<CallsUnderWay, 'drained'>;
}

interface Lease {
  readonly replica: string;
  /** Counts the renewals of the replica, so that it knows its own ones in the watch. */
  readonly turn: number;
}

/** Another replica that may run calls. */
interface Other {
  readonly replica: string;
  /** When it was last heard of, in the time of `#busMs`. */
  readonly at: number;
}

/** A replica that has not renewed its lease for so long, while the bus was there, is gone. */
const leaseMs = 10_000;
const renewMs = 3_000;
const leases = { name: 'seal_replicas', ttlMs: leaseMs, isWatched: true, holds: 'replicas' };
const address = { service: 'seal.drain' };

/** For how long a revocation waits in all, and how long calls under way may continue by themselves. */
const revokeMs = 25_000;
const patienceMs = 8_000;
/** Revocations that one replica serves at a time. */
const atOnce = 1_024;

export function createRevocations(deps: RevocationsDeps): Revocations {
  return new ReplicaRevocations(deps);
}

class ReplicaRevocations implements Revocations {
  readonly #deps: RevocationsDeps;
  readonly #replica: string;
  /** By the name of its key. */
  readonly #others = new Map<string, Other>();
  /**
   * Milliseconds for which the bus was there, by the renewals of this replica that its watch has shown. While the bus is
   * away no replica can renew its lease, and calls that had begun may run on.
   */
  #busMs = 0;
  #shown: { readonly turn: number; readonly at: number };
  #news = Promise.withResolvers<void>();
  #responder: Responder | undefined;
  #revision: number | undefined;
  #turn = 0;
  #renewal: Promise<number | undefined> = Promise.resolve(undefined);
  #nextRenewal: Promise<number | undefined> | undefined;

  constructor(deps: RevocationsDeps) {
    this.#deps = deps;
    this.#replica = `${deps.newId()}${deps.newId()}`;
    this.#shown = { turn: 0, at: deps.clock.steadyMs() };
  }

  async revoke(name: SessionName): Promise<boolean> {
    if (!(await this.#deps.sessions.revoke(name))) return false;
    await this.settled(sessionKey(name));
    return true;
  }

  async settled(key: string): Promise<void> {
    const until = this.#deps.clock.steadyMs() + revokeMs;
    await this.#meet(until);
    const waiting = new Set([this.#replica, ...this.#known()]);
    while (waiting.size > 0) {
      const leftMs = until - this.#deps.clock.steadyMs();
      if (leftMs <= 0) throw underWay(waiting.size);
      await this.#ask(key, waiting, leftMs);
      // A replica that is gone cannot answer; its lease ends by itself.
      const alive = this.#known();
      for (const replica of waiting) if (replica !== this.#replica && !alive.has(replica)) waiting.delete(replica);
    }
  }

  /**
   * Resolves when the watch has shown every lease that was written before: one of this replica's own is behind them. A replica
   * whose first lease is later reads that the session is revoked.
   */
  async #meet(until: number): Promise<void> {
    const { clock } = this.#deps;
    for (let turn: number | undefined; turn === undefined || this.#shown.turn < turn; ) {
      const leftMs = until - clock.steadyMs();
      if (leftMs <= 0) throw underWay();
      if (turn === undefined) turn = await this.#renewed();
      if (turn === undefined) await clock.sleep(Math.min(leftMs, 100));
      else if (this.#shown.turn < turn) await Promise.race([this.#news.promise, clock.sleep(leftMs)]);
    }
  }

  async #ask(key: string, waiting: Set<string>, leftMs: number): Promise<void> {
    const { bus, clock } = this.#deps;
    // Others than those that are waited for may answer first, so the wait for one round is short once all could have.
    const expected = Math.max(waiting.size, this.#known().size + 1);
    const timeoutMs = Math.min(leftMs, patienceMs + renewMs);
    const answers = await bus.requestAll(address, key, { timeoutMs, expected });
    const heard = answers.map((answer) => Buffer.from(answer).toString());
    for (const replica of heard) waiting.delete(replica);
    if (waiting.size > 0) await clock.sleep(Math.min(leftMs, 100));
  }

  /** The others that are not gone. */
  #known(): Set<string> {
    return new Set([...this.#others.values()].map(({ replica }) => replica));
  }

  async open(signal: AbortSignal): Promise<void> {
    const { bus, calls, clock, logger } = this.#deps;
    this.#responder = bus.serve(
      address,
      async ({ body }) => {
        await calls.drained(Buffer.from(body).toString(), patienceMs);
        return this.#replica;
      },
      { replicas: 'every', atOnce },
    );
    await Promise.race([this.#responder.ready, clock.sleep(revokeMs, signal)]);
    while (!signal.aborted && (await this.#renewed()) === undefined) {
      logger.warn({ bucket: leases.name }, 'lease of the replica not written');
      await clock.sleep(1_000, signal);
    }
  }

  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#renewOften(signal), this.#follow(signal)]);
  }

  async #renewOften(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#deps.clock.sleep(renewMs, signal);
      if (signal.aborted) return;
      await this.#renewed();
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    try {
      for await (const change of this.#deps.bus.watch<Lease>(leases, signal)) this.#take(change);
    } catch (error) {
      this.#deps.logger.error({ problem: messageOf(error) }, 'replicas are not followed');
    }
  }

  #take(change: KeyValueChange<Lease>): void {
    // A lease that has expired may be that of a replica which could not renew it, and runs calls.
    if (change.kind === 'end' && !change.isExpired) this.#others.delete(change.name);
    if (change.kind !== 'put') return;
    const { replica, turn } = change.value;
    if (replica === this.#replica) this.#show(turn);
    else this.#others.set(change.name, { replica, at: this.#busMs });
  }

  /** Takes note of an own renewal. */
  #show(turn: number): void {
    const now = this.#deps.clock.steadyMs();
    const passedMs = now - this.#shown.at;
    // After a longer pause the bus was away, and the others need their time to renew.
    if (passedMs <= 2 * renewMs) this.#busMs += passedMs;
    this.#shown = { turn, at: now };
    for (const [name, { at }] of this.#others) if (at < this.#busMs - leaseMs) this.#others.delete(name);
    this.#news.resolve();
    this.#news = Promise.withResolvers();
  }

  /** The turn of a renewal that begins after this; undefined where it could not be written. Those who ask meanwhile share it. */
  #renewed(): Promise<number | undefined> {
    this.#nextRenewal ??= this.#renewal.then(() => {
      this.#nextRenewal = undefined;
      this.#renewal = this.#renew();
      return this.#renewal;
    });
    return this.#nextRenewal;
  }

  async #renew(): Promise<number | undefined> {
    const bucket = this.#deps.bus.bucket<Lease>(leases);
    this.#turn += 1;
    const lease: Lease = { replica: this.#replica, turn: this.#turn };
    try {
      const { revision } = (await bucket.get(this.#replica)) ?? {};
      this.#revision =
        revision === undefined
          ? await bucket.create(this.#replica, lease, this.#replica)
          : await bucket.update(this.#replica, lease, revision);
      return this.#revision === undefined ? undefined : lease.turn;
    } catch (error) {
      this.#deps.logger.debug({ problem: messageOf(error) }, 'lease of the replica not renewed');
      return undefined;
    }
  }

  async close(): Promise<void> {
    await this.#responder?.close(0);
    if (this.#revision === undefined) return;
    await this.#deps.bus
      .bucket<Lease>(leases)
      .delete(this.#replica, this.#revision)
      .catch(() => undefined);
  }
}

const underWay = (replicas?: number): AppError => {
  const where = replicas === undefined ? 'other replicas' : `${replicas} replicas`;
  const message = `the session is revoked, and calls may still be under way on ${where}; revoke it again`;
  return new AppError('unavailable', message, { reason: 'CallsUnderWay' });
};
