import type { EventBus, KeyValueBucket } from '../bus/index.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { auditLimits } from './limits.ts';

interface LeaseDeps {
  readonly bus: Pick<EventBus, 'bucket'>;
  readonly clock: Clock;
  /** Names this writer among all. */
  readonly holder: string;
}

/**
 * The lane in which a process writes: the first that no other one holds, so that a restarted process continues a lane
 * that was left. Two that believe to hold the same lane harm nothing: each write is guarded by the one before.
 */
export interface LaneLease {
  /** @throws AppError `unavailable` */
  lane(): Promise<string>;
  /** Says that the writer is still there, where it is time to. Never rejects. */
  renew(): Promise<void>;
  /** Leaves the lane to others. Never rejects. */
  leave(): Promise<void>;
}

interface Held {
  readonly lane: string;
  readonly revision: number;
  readonly since: number;
}

const definition = { name: 'gateway_audit_lanes', ttlMs: auditLimits.leaseMs, holds: 'leases of audit lanes' };

/** Keys of lanes are on no tenant's account. */
const account = 'windlass-gateway';

export function createLaneLease(deps: LeaseDeps): LaneLease {
  return new BucketLease(deps);
}

class BucketLease implements LaneLease {
  readonly #deps: LeaseDeps;
  readonly #bucket: KeyValueBucket<string>;
  #held: Held | undefined;
  #claiming: Promise<Held> | undefined;

  constructor(deps: LeaseDeps) {
    this.#deps = deps;
    this.#bucket = deps.bus.bucket<string>(definition);
  }

  async lane(): Promise<string> {
    const { clock } = this.#deps;
    if (this.#held !== undefined && clock.now() - this.#held.since < auditLimits.leaseMs) return this.#held.lane;
    this.#claiming ??= this.#claim().finally(() => (this.#claiming = undefined));
    this.#held = await this.#claiming;
    return this.#held.lane;
  }

  async renew(): Promise<void> {
    const { clock, holder } = this.#deps;
    const held = this.#held;
    if (held === undefined || clock.now() - held.since < auditLimits.renewMs) return;
    try {
      const since = clock.now();
      const revision = await this.#bucket.update(held.lane, holder, held.revision);
      this.#held = revision === undefined ? undefined : { lane: held.lane, revision, since };
    } catch {
      // The bus is away. The next turn tries again, and a lease that is over is claimed anew.
    }
  }

  async leave(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    // A lease that cannot be freed expires.
    if (held !== undefined) await this.#bucket.delete(held.lane, held.revision).catch(() => undefined);
  }

  async #claim(): Promise<Held> {
    for (let number = 0; number < auditLimits.lanes; number += 1) {
      const since = this.#deps.clock.now();
      const lane = `l${number}`;
      const revision = await this.#take(lane);
      if (revision !== undefined) return { lane, revision, since };
    }
    throw new AppError('unavailable', `all ${auditLimits.lanes} lanes of the audit are taken`, {
      reason: 'AuditLanesTaken',
    });
  }

  /** A claim whose answer was lost is known by its holder. */
  async #take(lane: string): Promise<number | undefined> {
    const { holder } = this.#deps;
    const made = await this.#bucket.create(lane, holder, account);
    if (made !== undefined) return made;
    const found = await this.#bucket.get(lane);
    if (found?.value !== holder) return undefined;
    return this.#bucket.update(lane, holder, found.revision);
  }
}
