import type { Clock } from '../../lib/clock.ts';
import { messageOf } from '../../lib/errors.ts';
import {
  findObject,
  isAbsent,
  isAlreadyExists,
  isConflict,
  type KubeClient,
  type Lease,
  leases,
  type ObjectRef,
} from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { durationOf, newLease, released, renewed, takenOver } from './lease-record.ts';
import {
  createFence,
  createTenure,
  type Fence,
  type LeaseTiming,
  leaseTiming,
  type Renewal,
  type Tenure,
} from './tenure.ts';

interface LeaseElectionDeps {
  /** Not fenced: renewing is what makes the fence open again. */
  readonly client: Pick<KubeClient, 'get' | 'create' | 'replace'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly random?: () => number;
  /** Where each renewal is written down. Default: in this election alone. */
  readonly tenure?: Tenure;
  /** Asked before each attempt to take or to renew: false lets the lease lapse. Default: always true. */
  readonly isAlive?: () => boolean;
}

interface LeaseElectionOptions extends Partial<LeaseTiming> {
  readonly lease: ObjectRef;
  /** Never the same for two processes, nor for two runs of one. */
  readonly identity: string;
}

export type ElectionEnd = 'stopped' | 'lost';

/**
 * One leader at a time, by a Lease whose every change is guarded by its resourceVersion.
 *
 * A leader counts its time from the moment *before* it sent its last successful renewal, and stops writing after
 * `renewMs`. Others count `leaseMs` from the moment they *saw* that renewal. As long as clocks run at about the same
 * speed the old leader has stopped at least `leaseMs − renewMs` before the next begins, however long either of them was
 * stopped in between. Both the steady and the wall clock must agree that time is left. The first does not step; the
 * second also counts the time for which a whole machine was asleep.
 *
 * ```
 * leader   renew sent ─┬──────── renewMs: may write ────────┤ refuses to write
 * others               └─ renewal seen ──────────── leaseMs: wait ─────────────┤ take over
 * ```
 */
export interface LeaseElection extends Fence {
  /**
   * Competes, then leads until `stop` aborts (the lease is released) or the lease is lost. `onStarted` is called
   * once, when leadership begins; it must not throw. Never rejects.
   */
  run(stop: AbortSignal, onStarted?: () => void): Promise<ElectionEnd>;
}

export function createLeaseElection(deps: LeaseElectionDeps, options: LeaseElectionOptions): ResumableElection {
  return new Election(deps, options);
}

export interface ResumableElection extends LeaseElection {
  /**
   * Keeps leading where another thread of this process has renewed the lease and has died: `lost` at once where the
   * Lease is not this identity's any more.
   */
  resume(stop: AbortSignal): Promise<ElectionEnd>;
}

/** A candidate's observation of another's lease, and its age by the candidate's own steady clock. */
interface Sighting {
  readonly version: string | undefined;
  readonly since: number;
}

class Election implements ResumableElection {
  readonly #deps: LeaseElectionDeps;
  readonly #options: LeaseElectionOptions;
  readonly #timing: LeaseTiming;
  readonly #tenure: Tenure;
  readonly #fence: Fence;
  /** The Lease as last written, while it is ours. */
  #held: Lease | undefined;
  #sighting: Sighting | undefined;

  constructor(deps: LeaseElectionDeps, options: LeaseElectionOptions) {
    const { leaseMs, renewMs, retryMs } = { ...leaseTiming, ...options };
    if (renewMs >= leaseMs || retryMs >= renewMs)
      throw new RangeError('lease timings must obey retryMs < renewMs < leaseMs');
    const { tenure = createTenure(), clock } = deps;
    this.#deps = deps;
    this.#options = options;
    this.#timing = { leaseMs, renewMs, retryMs };
    this.#tenure = tenure;
    this.#fence = createFence({ tenure, clock, renewMs });
  }

  isLeaderNow(): boolean {
    return this.#fence.isLeaderNow();
  }

  assertLeader(): void {
    this.#fence.assertLeader();
  }

  async resume(stop: AbortSignal): Promise<ElectionEnd> {
    while (!(await this.#tried('renew', () => this.#tryResume()))) {
      await this.#pause(stop);
      if (stop.aborted) return 'stopped';
    }
    return this.#held === undefined ? 'lost' : this.#lead(stop);
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
   * While renewals fail the fence closes by itself, but the lease is not given up. Where our last version is still the
   * newest, no other has led in between, and we keep leading. Only another's name in the Lease, or no Lease, ends it.
   * So an outage of the API server costs no restart.
   */
  async #lead(stop: AbortSignal): Promise<ElectionEnd> {
    for (;;) {
      await this.#pause(stop);
      if (stop.aborted) {
        await this.#release();
        return 'stopped';
      }
      await this.#tried('renew', () => this.#tryRenew());
      if (this.#held === undefined) return 'lost';
    }
  }

  /** True once it is known whose the lease is. */
  async #tryResume(): Promise<boolean> {
    const lease = await this.#read();
    const ours = lease !== undefined && this.#isOurs(lease);
    if (ours) this.#held = lease;
    else this.#tenure.write(undefined);
    return true;
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
    const lease = this.#held;
    if (lease === undefined) return false;
    try {
      return await this.#renew(lease);
    } catch (error) {
      if (!isConflict(error) && !isAbsent(error)) throw error;
    }
    const newest = await this.#resight();
    return newest === undefined ? false : this.#renew(newest);
  }

  /** The Lease changed under us. A user may have touched a label; another's name in it means that we have lost. */
  async #resight(): Promise<Lease | undefined> {
    const lease = await this.#read();
    this.#held = lease !== undefined && this.#isOurs(lease) ? lease : undefined;
    if (this.#held === undefined) this.#tenure.write(undefined);
    return this.#held;
  }

  #isOurs(lease: Lease): boolean {
    return lease.spec?.holderIdentity === this.#options.identity;
  }

  #renew(lease: Lease): Promise<boolean> {
    const clocks = this.#clocks();
    return this.#hold(clocks, (options) => this.#deps.client.replace(leases, renewed(lease, clocks.wallAt), options));
  }

  async #hold(clocks: Renewal, write: (options: { readonly timeoutMs: number }) => Promise<Lease>): Promise<boolean> {
    this.#held = await write({ timeoutMs: this.#timing.renewMs / 2 });
    this.#tenure.write(clocks);
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
    const now = this.#deps.clock.steadyMs();
    if (this.#sighting?.version !== version) this.#sighting = { version, since: now };
    return now - (this.#sighting?.since ?? now) >= durationOf(lease, this.#timing.leaseMs);
  }

  async #release(): Promise<void> {
    const lease = this.#held;
    this.#held = undefined;
    this.#tenure.write(undefined);
    if (lease === undefined) return;
    await this.#tried('release', async () => {
      await this.#deps.client.replace(leases, released(lease, this.#deps.clock.now()), { timeoutMs: 5_000 });
      return true;
    });
  }

  /** Losing a race is part of the game; anything else is worth a line. */
  async #tried(what: 'take' | 'renew' | 'release', attempt: () => Promise<boolean>): Promise<boolean> {
    const { isAlive = () => true } = this.#deps;
    try {
      return (what === 'release' || isAlive()) && (await attempt());
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

  #clocks(): Renewal {
    return { steadyAt: this.#deps.clock.steadyMs(), wallAt: this.#deps.clock.now() };
  }

  #claim() {
    const { lease, identity } = this.#options;
    return { ref: lease, identity, leaseMs: this.#timing.leaseMs };
  }
}
