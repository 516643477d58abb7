import { daemonLimits } from '../limits.ts';

/**
 * The pause before an attempt, in milliseconds. It is by chance from zero to a bound that doubles with each failure
 * (full jitter). So hosts whose relay ended together do not come back together. `chance` is from 0 to below 1.
 */
export function pauseBefore(failures: number, chance: number): number {
  const bound = Math.min(daemonLimits.backoffCapMs, daemonLimits.backoffMs * 2 ** Math.min(failures, 30));
  return Math.floor(chance * bound);
}
