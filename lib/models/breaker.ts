import type { Clock } from '../clock.ts';
import type { PoolPart } from '../fair-pool.ts';
import { type Circuit, createCircuit, type Entry } from './circuit.ts';
import { modelLimits } from './limits.ts';

/** A question that need not wait any more. Dispose of it when it has ended: a trial then makes room for the next one. */
export interface ModelTurn extends Disposable {
  /**
   * Asked before the question is sent. False where the provider has begun to rest since, or the trial has made room for the next one:
   * the question waits anew.
   */
  readonly isValid: boolean;
  /** The answer has begun. A trial is over with that. */
  begun(): void;
  /** The provider answered, with whatever it was. */
  answered(): void;
  failed(): void;
}

/**
 * Circuit breaker of one provider. After so many failures in a row questions wait for a while; then one at a time is sent, until
 * one is answered. Each has ten seconds, from its turn on: it may wait for tokens or a place that another one has. Failures of one tenant make that tenant wait: the provider may fail because of its questions. Failures of several
 * make all wait (ADR 0155).
 */
export interface Breaker {
  /** Rejects as `FairPool.enter` does. */
  enter(entry: Entry): Promise<ModelTurn>;
  /** Whether questions of the tenant wait. */
  isOpenFor(tenant: string): boolean;
  /** Questions that wait. */
  readonly waiting: number;
}

/** Hears when questions begin to wait, and when they need not any more. Without a tenant: those of all. */
type OnRest = (isResting: boolean, tenant?: string) => void;

export function createBreaker(clock: Clock, onRest: OnRest = () => undefined): Breaker {
  return new TenantBreaker(clock, onRest);
}

/** How long failures of a tenant are remembered that asks no more. */
const rememberedMs = 600_000;

class TenantBreaker implements Breaker {
  readonly #clock: Clock;
  readonly #onRest: OnRest;
  readonly #shared: Circuit;
  /** Those of tenants whose last question failed, the one that failed last at the end. */
  readonly #own = new Map<string, Circuit>();

  constructor(clock: Clock, onRest: OnRest) {
    this.#clock = clock;
    this.#onRest = onRest;
    this.#shared = createCircuit(clock, modelLimits.breakerFailuresOfOne);
  }

  get waiting(): number {
    return [...this.#own.values()].reduce((sum, own) => sum + own.waiting, this.#shared.waiting);
  }

  isOpenFor(tenant: string): boolean {
    return this.#shared.isOpen || this.#own.get(tenant)?.isOpen === true;
  }

  async enter(entry: Entry): Promise<ModelTurn> {
    const ownTrial = await this.#own.get(entry.tenant)?.enter(entry);
    try {
      return this.#turn(entry.tenant, { own: ownTrial, shared: await this.#shared.enter(entry) });
    } catch (error) {
      ownTrial?.leave();
      throw error;
    }
  }

  #turn(tenant: string, trials: Trials): ModelTurn {
    const ended = new AbortController();
    let isOver = false;
    const leave = (): void => {
      isOver = true;
      trials.own?.leave();
      trials.shared?.leave();
    };
    const mayPass = (circuit: Circuit | undefined, trial: PoolPart | undefined): boolean =>
      circuit?.isOpen !== true || (trial !== undefined && !isOver);
    const isValid = (): boolean => mayPass(this.#shared, trials.shared) && mayPass(this.#own.get(tenant), trials.own);
    const isTrial = trials.own !== undefined || trials.shared !== undefined;
    if (isTrial) void this.#clock.sleep(modelLimits.breakerOpenMs, ended.signal).then(leave);
    return {
      get isValid() {
        return isValid();
      },
      begun: () => {
        if (isTrial) this.#answered(tenant);
        leave();
      },
      answered: () => this.#answered(tenant),
      failed: () => this.#failed(tenant),
      [Symbol.dispose]: () => {
        ended.abort('ended');
        leave();
      },
    };
  }

  #answered(tenant: string): void {
    if (this.#shared.isOpen) {
      this.#shared.answered();
      // It was away for all, and is back for all.
      for (const own of this.#own.keys()) this.#close(own);
      this.#onRest(false);
    }
    this.#shared.answered();
    this.#close(tenant);
  }

  #close(tenant: string): void {
    const own = this.#own.get(tenant);
    this.#own.delete(tenant);
    if (own?.isOpen === true) this.#onRest(false, tenant);
    own?.answered();
  }

  #failed(tenant: string): void {
    const own = this.#own.get(tenant) ?? createCircuit(this.#clock, modelLimits.breakerFailures);
    this.#own.delete(tenant);
    this.#own.set(tenant, own);
    const were = [this.#shared.isOpen, own.isOpen] as const;
    this.#shared.failed(tenant);
    own.failed(tenant);
    if (!were[0] && this.#shared.isOpen) this.#onRest(true);
    if (!were[1] && own.isOpen) this.#onRest(true, tenant);
    this.#forget();
  }

  #forget(): void {
    const before = this.#clock.steadyMs() - rememberedMs;
    for (const [tenant, own] of this.#own) {
      if (own.failedAt > before) return;
      if (own.waiting === 0) this.#own.delete(tenant);
    }
  }
}

/** Places of a question that is a trial. */
interface Trials {
  readonly own: PoolPart | undefined;
  readonly shared: PoolPart | undefined;
}
