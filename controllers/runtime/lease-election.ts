import type { Clock } from '../../lib/clock.ts';
import { AppError, messageOf } from '../../lib/errors.ts';
import {
  findObject,
  isAlreadyExists,
  isConflict,
  isNotFound,
  type KubeClient,
  type Lease,
  leases,
  type ObjectRef,
} from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { durationOf, newLease, released, renewed, takenOver } from './lease-record.ts';

/** This process may not write: its lease has run out or is another's. */
export class LostLeadership extends AppError {
  override readonly name = 'LostLeadership';

  constructor() {
    super('lost_leadership', 'this process does not hold the lease', { reason: 'LostLeadership' });
  }
}

interface LeaseElectionDeps {
  /** Not fenced: renewing is what makes the fence open again. */
  readonly client: Pick<KubeClient, 'get' | 'create' | 'replace'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Milliseconds that run on while the process is stopped and never step. Default performance.now. */
  readonly monotonic?: () => number;
  readonly random?: () => number;
}

interface LeaseElectionOptions {
  readonly lease: ObjectRef;
  /** Never the same for two processes, nor for two runs of one. */
  readonly identity: string;
  /** Others take over after this long without a renewal that they saw. Default 15,000. */
  readonly leaseMs?: number;
  /** A leader that could not renew for this long stops writing. Must be clearly below `leaseMs`. Default 10,000. */
  readonly renewMs?: number;
  /** Between attempts to take or renew. Default 2,000. */
  readonly retryMs?: number;
}

type ElectionEnd = 'stopped' | 'lost';

/**
 * One leader at a time, by a Lease whose every change is guarded by its resourceVersion.
 *
 * A leader counts its time from the moment *before* it sent its last successful renewal, and stops writing after
 * `renewMs`. Others count `leaseMs` from the moment they *saw* that renewal. As long as clocks run at about the same
 * speed the old leader has stopped at least `leaseMs − renewMs` before the next begins, however long either of them
 * was stopped in between. Both the monotonic and the wall clock must agree that time is left: the first does not
 * step, the second also counts the time for which a whole machine was asleep.
 *
 * ```
 * leader   renew sent ─┬──────── renewMs: may write ────────┤ refuses to write
 * others               └─ renewal seen ──────────── leaseMs: wait ─────────────┤ take over
 * ```
 */
export interface LeaseElection {
  /**
   * Competes, then leads until `stop` aborts (the lease is released) or the lease is lost. `onStarted` is called
   * once, when leadership begins; it must not throw. Never rejects.
   */
  run(stop: AbortSignal, onStarted?: () => void): Promise<ElectionEnd>;
  /** True while this process holds the lease and has time left. Decided anew by each call, with no request. */
  isLeaderNow(): boolean;
  /** Throws LostLeadership unless `isLeaderNow()`: the guard for `withFence`. */
  assertLeader(): void;
}

export function createLeaseElection(deps: LeaseElectionDeps, options: LeaseElectionOptions): LeaseElection {
  return new Election(deps, options);
}

/** What a candidate has seen of another's lease, and since when, by its own monotonic clock. */
interface Sighting {
  readonly version: string | undefined;
  readonly since: number;
}

/** Our tenure: the Lease as last written, and both clocks from before that write. */
interface Tenure {
  readonly lease: Lease;
  readonly monotonicAt: number;
  readonly wallAt: number;
}

class Election implements LeaseElection {
  readonly #deps: LeaseElectionDeps;
  readonly #options: LeaseElectionOptions;
  readonly #timing: { readonly leaseMs: number; readonly renewMs: number; readonly retryMs: number };
  readonly #monotonic: () => number;
  #tenure: Tenure | undefined;
  #sighting: Sighting | undefined;

  constructor(deps: LeaseElectionDeps, options: LeaseElectionOptions) {
    const { leaseMs = 15_000, renewMs = 10_000, retryMs = 2_000 } = options;
    if (renewMs >= leaseMs || retryMs >= renewMs)
      throw new RangeError('lease timings must obey retryMs < renewMs < leaseMs');
    this.#deps = deps;
    this.#options = options;
    this.#timing = { leaseMs, renewMs, retryMs };
    this.#monotonic = deps.monotonic ?? (() => performance.now());
  }

  isLeaderNow(): boolean {
    return this.#leftMs() > 0;
  }

  assertLeader(): void {
    if (!this.isLeaderNow()) throw new LostLeadership();
  }

  async run(stop: AbortSignal, onStarted?: () => void): Promise<ElectionEnd> {
    const { logger } = this.#deps;
    while (!(await this.#tried('take', () => this.#tryTake()))) {
      await this.#pause(stop);
      if (stop.aborted) return 'stopped';
    }
    logger.info({ lease: this.#options.lease.name, identity: this.#options.identity }, 'leadership begun');
    onStarted?.();
    const end = await this.#lead(stop);
    logger.info({ lease: this.#options.lease.name, end }, 'leadership ended');
    return end;
  }

  /**
   * While renewals fail the fence closes by itself, but the lease is not given up: that our last version is still
   * the newest proves that nobody else has led in between, and then we go on. Only another's name in the Lease, or
   * no Lease, ends it. So an outage of the API server costs no restart.
   */
  async #lead(stop: AbortSignal): Promise<ElectionEnd> {
    for (;;) {
      await this.#pause(stop);
      if (stop.aborted) {
        await this.#release();
        return 'stopped';
      }
      await this.#tried('renew', () => this.#tryRenew());
      if (this.#tenure === undefined) return 'lost';
    }
  }

  /** True once we hold the lease. */
  async #tryTake(): Promise<boolean> {
    const lease = await this.#read();
    const clocks = this.#clocks();
    if (lease === undefined)
      return this.#hold(clocks, (options) =>
        this.#deps.client.create(leases, newLease(this.#claim(), clocks.wallAt), options),
      );
    if (!this.#isFree(lease)) return false;
    return this.#hold(clocks, (options) =>
      this.#deps.client.replace(leases, takenOver(lease, this.#claim(), clocks.wallAt), options),
    );
  }

  async #tryRenew(): Promise<boolean> {
    const { lease } = this.#tenure ?? {};
    if (lease === undefined) return false;
    try {
      return await this.#renew(lease);
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) throw error;
    }
    const newest = await this.#resight();
    return newest === undefined ? false : this.#renew(newest);
  }

  /** The Lease changed under us. Somebody may have touched a label; another's name in it means that we have lost. */
  async #resight(): Promise<Lease | undefined> {
    const lease = await this.#read();
    const ours = lease !== undefined && lease.spec?.holderIdentity === this.#options.identity;
    this.#tenure = ours && this.#tenure !== undefined ? { ...this.#tenure, lease } : undefined;
    return ours ? lease : undefined;
  }

  #renew(lease: Lease): Promise<boolean> {
    const clocks = this.#clocks();
    return this.#hold(clocks, (options) => this.#deps.client.replace(leases, renewed(lease, clocks.wallAt), options));
  }

  async #hold(
    clocks: Omit<Tenure, 'lease'>,
    write: (options: { readonly timeoutMs: number }) => Promise<Lease>,
  ): Promise<boolean> {
    const lease = await write({ timeoutMs: this.#timing.renewMs / 2 });
    this.#tenure = { lease, ...clocks };
    return true;
  }

  #read(): Promise<Lease | undefined> {
    return findObject(this.#deps.client, leases, this.#options.lease, { timeoutMs: this.#timing.renewMs / 2 });
  }

  /**
   * Released, ours by a request whose answer was lost, or unchanged for its whole duration as we saw it. Times
   * inside the Lease are another clock's.
   */
  #isFree(lease: Lease): boolean {
    const holder = lease.spec?.holderIdentity;
    if (!holder || holder === this.#options.identity) return true;
    const version = lease.metadata.resourceVersion;
    const now = this.#monotonic();
    if (this.#sighting?.version !== version) this.#sighting = { version, since: now };
    return now - (this.#sighting?.since ?? now) >= durationOf(lease, this.#timing.leaseMs);
  }

  async #release(): Promise<void> {
    const { lease } = this.#tenure ?? {};
    this.#tenure = undefined;
    if (lease === undefined) return;
    await this.#tried('release', async () => {
      await this.#deps.client.replace(leases, released(lease, this.#deps.clock.now()), { timeoutMs: 5_000 });
      return true;
    });
  }

  /** Losing a race is part of the game; anything else is worth a line. */
  async #tried(what: 'take' | 'renew' | 'release', attempt: () => Promise<boolean>): Promise<boolean> {
    try {
      return await attempt();
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error)) {
        this.#deps.logger.warn({ what, problem: messageOf(error) }, 'lease request failed');
      }
      return false;
    }
  }

  /** A little random, so that candidates do not keep meeting. */
  #pause(stop: AbortSignal): Promise<void> {
    const { random = Math.random, clock } = this.#deps;
    return clock.sleep(this.#timing.retryMs * (0.9 + 0.2 * random()), stop);
  }

  #clocks(): Omit<Tenure, 'lease'> {
    return { monotonicAt: this.#monotonic(), wallAt: this.#deps.clock.now() };
  }

  #leftMs(): number {
    if (this.#tenure === undefined) return 0;
    const { monotonicAt, wallAt } = this.#tenure;
    const elapsed = Math.max(this.#monotonic() - monotonicAt, this.#deps.clock.now() - wallAt);
    return this.#timing.renewMs - elapsed;
  }

  #claim() {
    const { lease, identity } = this.#options;
    return { ref: lease, identity, leaseMs: this.#timing.leaseMs };
  }
}
