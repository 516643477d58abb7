import type { Clock } from '../../lib/clock.ts';
import { createFairPool, type FairPool, type PoolPart } from '../../lib/fair-pool.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { fleetRunLimits } from './limits.ts';

/** A run that wants room, and what it wants. */
interface RoomRequest {
  readonly uid: string;
  readonly tenant: string;
  /** Bytes of heap. */
  readonly bytes: number;
  /** Called when there is news of a run that waits. */
  readonly wake: () => void;
}

/**
 * Room in memory for the views of runs, which tenants share (ADR 0164). A run that finds none waits in line, and keeps what it gets
 * until it leaves.
 */
export class ViewRooms {
  readonly #pool: FairPool;
  readonly #held = new Map<string, PoolPart>();
  readonly #waiting = new Map<string, AbortController>();

  constructor(clock: Clock, size: number = bytesOf('fleet runs under way')) {
    this.#pool = createFairPool({ size, clock, perFree: 1, waitMs: fleetRunLimits.longestWaitMs });
  }

  /** Whether the run has its room. Where not, it waits in line, and is woken. */
  take(request: RoomRequest): boolean {
    const { uid, tenant } = request;
    const cost = this.#costOf(request);
    if (this.#waiting.has(uid)) return false;
    const held = this.#held.get(uid);
    if (held?.grow(cost) === true) {
      held.keep(cost);
      return true;
    }
    // Its hosts are more than they were when it began to wait.
    held?.leave();
    this.#held.delete(uid);
    const part = this.#pool.tryEnter({ tenant, cost });
    if (part === undefined) {
      void this.#wait(request);
      return false;
    }
    this.#held.set(uid, part);
    return true;
  }

  isWaiting(uid: string): boolean {
    return this.#waiting.has(uid);
  }

  /** Bytes that the runs of a tenant have. */
  heldBy(tenant: string): number {
    return this.#pool.heldBy(tenant);
  }

  /** The run needs nothing more. */
  leave(uid: string): void {
    this.#waiting.get(uid)?.abort();
    this.#waiting.delete(uid);
    const held = this.#held.get(uid);
    this.#held.delete(uid);
    held?.leave();
  }

  leaveAll(): void {
    // None that waits gets what another one gives back.
    for (const uid of this.#waiting.keys()) this.leave(uid);
    for (const uid of this.#held.keys()) this.leave(uid);
  }

  /** No run counts as more than a share: another tenant has room beside it. */
  #costOf({ bytes }: RoomRequest): number {
    return Math.min(bytes, this.#pool.share);
  }

  /** Never rejects. One whose wait is over is woken as well, and begins to wait anew. */
  async #wait(request: RoomRequest): Promise<void> {
    const { uid, tenant, wake } = request;
    const stop = new AbortController();
    this.#waiting.set(uid, stop);
    const part = await this.#pool
      .enter({ tenant, cost: this.#costOf(request), signal: stop.signal })
      .catch(() => undefined);
    // Given in the moment in which the run left.
    if (stop.signal.aborted) return part?.leave();
    this.#waiting.delete(uid);
    if (part !== undefined) this.#held.set(uid, part);
    wake();
  }
}
