import type { Clock } from '../clock.ts';
import { modelLimits } from './limits.ts';

/** Failures in a row, and the rest that follows from them. */
export interface Circuit {
  readonly isOpen: boolean;
  /** No question may be sent just now: the rest lasts, or a trial is under way. */
  readonly isShut: boolean;
  /** Steady time at which `isShut` may end by itself; infinite where it is not shut. */
  readonly changesAt: number;
  /** Steady time of the last failure. */
  readonly failedAt: number;
  /** A question is sent. While it is open, that is the trial, until it is left or its ten seconds are over; else undefined. */
  begin(): Trial | undefined;
  failed(tenant: string): void;
  /** The provider answered: it is closed. */
  answered(): void;
}

interface Trial {
  leave(): void;
}

/** Opens after so many failures in a row as `modelLimits` says, of which no more than `perTenant` count for one tenant. */
export function createCircuit(clock: Clock, perTenant: number): Circuit {
  return new TriedCircuit(clock, perTenant);
}

class TriedCircuit implements Circuit {
  readonly #clock: Clock;
  readonly #perTenant: number;
  readonly #failures = new Map<string, number>();
  #counted = 0;
  /** Undefined while it is closed. */
  #openUntil: number | undefined;
  #trialUntil = Number.NEGATIVE_INFINITY;
  #trial: Trial | undefined;
  failedAt = 0;

  constructor(clock: Clock, perTenant: number) {
    this.#clock = clock;
    this.#perTenant = perTenant;
  }

  get isOpen(): boolean {
    return this.#openUntil !== undefined;
  }

  get isShut(): boolean {
    return Number.isFinite(this.changesAt);
  }

  get changesAt(): number {
    if (this.#openUntil === undefined) return Number.POSITIVE_INFINITY;
    const until = Math.max(this.#openUntil, this.#trialUntil);
    return until > this.#clock.steadyMs() ? until : Number.POSITIVE_INFINITY;
  }

  begin(): Trial | undefined {
    if (!this.isOpen) return undefined;
    const trial = {
      leave: (): void => {
        if (this.#trial === trial) this.#trialUntil = Number.NEGATIVE_INFINITY;
      },
    };
    this.#trial = trial;
    this.#trialUntil = this.#clock.steadyMs() + modelLimits.breakerOpenMs;
    return trial;
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
    this.#openUntil = undefined;
    this.#trial = undefined;
    this.#trialUntil = Number.NEGATIVE_INFINITY;
  }
}
