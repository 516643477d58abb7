import { describe, expect, it } from 'vitest';
import { median, percentile, rounded, spread } from './statistics.ts';

describe('statistics', () => {
  it.each([
    { values: [3, 1, 2], want: 2 },
    { values: [4, 1, 3, 2], want: 2.5 },
    { values: [7], want: 7 },
    { values: [10, 9, 100], want: 10 },
  ])('the median of $values is $want', ({ values, want }) => expect(median(values)).toBe(want));

  it('the median of nothing is no number', () => expect(median([])).toBeNaN());

  it('the spread is the smallest and the largest value', () =>
    expect(spread([2, 9, 1, 5])).toEqual({ least: 1, most: 9 }));

  it.each([
    { value: 0.123456, want: 0.123 },
    { value: 1234.5, want: 1230 },
    { value: 0, want: 0 },
  ])('$value is shown as $want', ({ value, want }) => expect(rounded(value)).toBe(want));

  it.each([
    { values: [3, 1, 2, 4], share: 0.5, want: 2 },
    { values: [3, 1, 2, 4], share: 0.75, want: 3 },
    { values: [3, 1, 2, 4], share: 0.99, want: 4 },
    { values: [], share: 0.5, want: Number.NaN },
  ])('$share of $values do not exceed $want', ({ values, share, want }) =>
    expect(percentile(values, share)).toBe(want),
  );
});
