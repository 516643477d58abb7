/** The first delay, and the longest. */
export interface BackoffLimits {
  readonly baseMs: number;
  readonly maxMs: number;
}

/** More doublings than any maximum needs, and few enough to stay a finite number. */
const mostDoublings = 30;

/** The whole delay after `failures` earlier ones: doubles from the base up to the maximum. */
export function exponential(limits: BackoffLimits, failures: number): number {
  return Math.min(limits.maxMs, limits.baseMs * 2 ** Math.min(failures, mostDoublings));
}

/** Anywhere between nothing and the whole delay: clients that were cut off together spread out. */
export function fullJitter(limits: BackoffLimits, failures: number, random: number): number {
  return exponential(limits, failures) * random;
}

/** At least half of the whole delay: what failed must not be hammered. */
export function halfJitter(limits: BackoffLimits, failures: number, random: number): number {
  return (exponential(limits, failures) * (1 + random)) / 2;
}
