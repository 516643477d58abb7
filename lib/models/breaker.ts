import type { Clock } from '../clock.ts';
import { type Circuit, createCircuit } from './circuit.ts';
import { modelLimits } from './limits.ts';

/** A question that is sent. Dispose of it when it has ended: a trial then makes room for the next one. */
export interface ModelTurn extends Disposable {
  /** The answer has begun. A trial is over with that. */
  begun(): void;
  /** The provider answered, with whatever it was. */
  answered(): void;
  failed(): void;
}

/**
 * Circuit breaker of one provider. After so many failures in a row no question is sent for a while; then one at a time is, until
 * one is answered. Each is the trial for ten seconds, from its begin on. Failures of one tenant shut it for that tenant: the provider
 * may fail because of its questions. Failures of several shut it for all (ADR 0155).
 */
export interface Breaker {
  /** Whether questions of the tenant wait, or are sent as trials alone. */
  isOpenFor(tenant: string): boolean;
  /** No question of any tenant may be sent just now. */
  readonly isShut: boolean;
  /** No question of the tenant may be sent just now, for failures of its own. */
  isShutFor(tenant: string): boolean;
  /** Steady time at which one of these may end by itself. */
  readonly changesAt: number;
  /** A question is sent. Where it may not be, nothing prevents it. */
  begin(tenant: string): ModelTurn;
}

interface BreakerOptions {
  /** Hears when questions begin to wait, and when they need not any more. Without a tenant: those of all. */
  readonly onRest?: (isResting: boolean, tenant?: string) => void;
  /** Whether questions of the tenant wait: its failures are not forgotten then. */
  readonly isAwaited?: (tenant: string) => boolean;
}

export function createBreaker(clock: Clock, options: BreakerOptions = {}): Breaker {
  return new TenantBreaker(clock, options);
}

/** How long failures of a tenant are remembered that asks no more. */
const rememberedMs = 600_000;

class TenantBreaker implements Breaker {
  readonly #clock: Clock;
  readonly #onRest: NonNullable<BreakerOptions['onRest']>;
  readonly #isAwaited: NonNullable<BreakerOptions['isAwaited']>;
  readonly #shared: Circuit;
  /** Those of tenants whose last question failed, the one that failed last at the end. */
  readonly #own = new Map<string, Circuit>();

  constructor(clock: Clock, { onRest = () => undefined, isAwaited = () => false }: BreakerOptions) {
    this.#clock = clock;
    this.#onRest = onRest;
    this.#isAwaited = isAwaited;
    this.#shared = createCircuit(clock, modelLimits.breakerFailuresOfOne);
  }

  isOpenFor(tenant: string): boolean {
    return this.#shared.isOpen || this.#own.get(tenant)?.isOpen === true;
  }

  get isShut(): boolean {
    return this.#shared.isShut;
  }

  isShutFor(tenant: string): boolean {
    return this.#own.get(tenant)?.isShut === true;
  }

  get changesAt(): number {
    return [...this.#own.values()].reduce((at, own) => Math.min(at, own.changesAt), this.#shared.changesAt);
  }

  begin(tenant: string): ModelTurn {
    const trials = [this.#own.get(tenant)?.begin(), this.#shared.begin()].filter((trial) => trial !== undefined);
    const leave = (): void => trials.forEach((trial) => trial.leave());
    return {
      begun: () => {
        if (trials.length > 0) this.#answered(tenant);
        leave();
      },
      answered: () => this.#answered(tenant),
      failed: () => this.#failed(tenant),
      [Symbol.dispose]: leave,
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
      if (!this.#isAwaited(tenant)) this.#own.delete(tenant);
    }
  }
}
