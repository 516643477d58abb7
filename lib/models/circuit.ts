import type { Clock } from '../clock.ts';
import { createFairPool, type FairPool, type PoolPart } from '../fair-pool.ts';
import { modelLimits } from './limits.ts';

/** A question that may wait. */
export interface Entry {
  readonly tenant: string;
  readonly signal: AbortSignal;
}

/** Failures in a row, and the line of those who wait because of them. */
export interface Circuit {
  readonly isOpen: boolean;
  /** Entries that wait. */
  readonly waiting: number;
  /** Steady time of the last failure. */
  readonly failedAt: number;
  /**
   * Waits while it is open, tenants in turn. The place of the trial, which keeps the others waiting until it is left; undefined where
   * there is nothing to try. Rejects as `FairPool.enter` does.
   */
  enter(entry: Entry): Promise<PoolPart | undefined>;
  failed(tenant: string): void;
  /** The provider answered: the entries that wait need not any more. */
  answered(): void;
}

/** Opens after so many failures in a row as `modelLimits` says, of which no more than `perTenant` count for one tenant. */
export function createCircuit(clock: Clock, perTenant: number): Circuit {
  return new WaitingCircuit(clock, perTenant);
}

class WaitingCircuit implements Circuit {
  readonly #clock: Clock;
  readonly #perTenant: number;
  readonly #failures = new Map<string, number>();
  readonly #line: FairPool;
  #counted = 0;
  /** Undefined while it is closed. */
  #openUntil: number | undefined;
  #closing = new AbortController();
  failedAt = 0;

  constructor(clock: Clock, perTenant: number) {
    this.#clock = clock;
    this.#perTenant = perTenant;
    this.#line = createFairPool({ size: 1, waiting: modelLimits.waiting, waitMs: modelLimits.turnMs, clock });
  }

  get isOpen(): boolean {
    return this.#openUntil !== undefined;
  }

  get waiting(): number {
    return this.#line.waiting + this.#line.used;
  }

  async enter({ tenant, signal }: Entry): Promise<PoolPart | undefined> {
    if (!this.isOpen) return undefined;
    const closing = this.#closing.signal;
    const either = AbortSignal.any([signal, closing]);
    try {
      const place = await this.#line.enter({ tenant, signal: either });
      if (await this.#rested(either)) return place;
      place.leave();
    } catch (error) {
      if (!closing.aborted) throw error;
    }
    signal.throwIfAborted();
    return undefined;
  }

  /** Whether it is still open once its time is over; a late failure makes that longer. */
  async #rested(signal: AbortSignal): Promise<boolean> {
    for (let left = this.#left; left > 0 && !signal.aborted; left = this.#left) await this.#clock.sleep(left, signal);
    return !signal.aborted;
  }

  get #left(): number {
    return (this.#openUntil ?? 0) - this.#clock.steadyMs();
  }

  failed(tenant: string): void {
    this.failedAt = this.#clock.steadyMs();
    const failures = (this.#failures.get(tenant) ?? 0) + 1;
    this.#failures.set(tenant, failures);
    if (failures <= this.#perTenant) this.#counted += 1;
    if (this.#counted >= modelLimits.breakerFailures) this.#openUntil = this.failedAt + modelLimits.breakerOpenMs;
  }

  answered(): void {
    this.#failures.clear();
    this.#counted = 0;
    if (!this.isOpen) return;
    this.#openUntil = undefined;
    this.#closing.abort('closed');
    this.#closing = new AbortController();
  }
}
