/** A value and how much it counts. */
export interface Weighted {
  readonly value: number;
  readonly weight: number;
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The weights must not all be 0. */
export const weightedMean = (items: readonly Weighted[]): number =>
  sum(items.map(({ value, weight }) => value * weight)) / sum(items.map(({ weight }) => weight));

/** The population standard deviation σ, weighted. */
export function deviation(items: readonly Weighted[]): number {
  const mean = weightedMean(items);
  return Math.sqrt(weightedMean(items.map(({ value, weight }) => ({ value: (value - mean) ** 2, weight }))));
}

/** Places after the point that a result keeps. */
const places = 12;

/**
 * A number between 0 and 1 without the last digits of binary fractions: three judges who all say 0.7 have the mean 0.7, and
 * a threshold of 0.7 is reached.
 */
export function fraction(value: number): number {
  const rounded = Math.round(value * 10 ** places) / 10 ** places;
  return Math.min(1, Math.max(0, rounded));
}
