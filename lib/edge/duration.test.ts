import { describe, expect, it } from 'vitest';
import { durationOf, millisecondsOf, wholeSeconds } from './duration.ts';

describe('a duration of the protocol', () => {
  it.each([
    [0, 0n, 0],
    [999, 0n, 999_000_000],
    [1_250, 1n, 250_000_000],
    [0.5, 0n, 500_000],
  ])('of %d ms has its seconds and nanoseconds', (ms, seconds, nanos) => {
    expect(durationOf(ms)).toEqual({ seconds, nanos });
    expect(wholeSeconds(ms)).toEqual({ seconds, nanos: 0 });
    expect(millisecondsOf(durationOf(ms))).toBe(Math.floor(ms));
  });

  it.each([
    ['absent', undefined],
    ['negative', { seconds: -1n, nanos: 0 }],
    ['beyond what a clock counts', { seconds: 2n ** 60n, nanos: 0 }],
  ])('that is %s has no milliseconds', (_title, duration) => {
    expect(millisecondsOf(duration)).toBeUndefined();
  });
});
