import type { Clock } from '../clock.ts';
import { modelLimits } from './limits.ts';

/** A request that the breaker let through, until its end is known. */
export interface Pass {
  /** The provider answered, with whatever it was. */
  answered(): void;
  failed(): void;
  /** Nothing was learned: the caller gave up. */
  abandoned(): void;
}

/**
 * Circuit breaker of one provider. After so many failures in a row it lets nothing through for a while, then one request
 * alone, whose end decides.
 */
export interface Breaker {
  /** Undefined while it is open. */
  enter(): Pass | undefined;
  readonly isOpen: boolean;
}

export function createBreaker(clock: Pick<Clock, 'steadyMs'>): Breaker {
  let failures = 0;
  let openUntil = 0;
  let isTrying = false;
  const isClosed = (): boolean => failures < modelLimits.breakerFailures;
  const mayTry = (): boolean => !isTrying && clock.steadyMs() >= openUntil;
  const open = (): void => {
    openUntil = clock.steadyMs() + modelLimits.breakerOpenMs;
  };
  const pass = (isTrial: boolean): Pass => {
    const end = (): void => {
      if (isTrial) isTrying = false;
    };
    return {
      answered() {
        end();
        failures = 0;
      },
      failed() {
        end();
        failures += 1;
        if (!isClosed()) open();
      },
      abandoned: end,
    };
  };
  return {
    enter() {
      if (isClosed()) return pass(false);
      if (!mayTry()) return undefined;
      isTrying = true;
      return pass(true);
    },
    get isOpen() {
      return !isClosed() && !mayTry();
    },
  };
}
