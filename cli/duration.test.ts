import { describe, expect, it } from 'vitest';
import { formatAge, formatElapsed, parseTimeout } from './duration.ts';

describe('a timeout on the command line', () => {
  it.each([
    ['0', 0],
    ['90', 90_000],
    ['90s', 90_000],
    ['500ms', 500],
    ['5m', 300_000],
    ['1h30m', 5_400_000],
    ['1d', 86_400_000],
    ['1m0s', 60_000],
  ])('%s is %d ms', (text, want) => {
    expect(parseTimeout(text)).toBe(want);
  });

  it.each(['', 's', '-1s', '1.5h', '5 m', '5x', '1h30', 'm5'])('%j is refused', (text) => {
    expect(() => parseTimeout(text)).toThrow(expect.objectContaining({ exit: 'usage' }));
  });
});

describe('elapsed time', () => {
  it.each([
    [-5, '0.0s'],
    [0, '0.0s'],
    [99, '0.0s'],
    [100, '0.1s'],
    [59_999, '59.9s'],
    [60_000, '1m00s'],
    [3_599_999, '59m59s'],
    [3_600_000, '1h00m'],
    [86_399_999, '23h59m'],
    [86_400_000, '1d00h'],
  ])('%d ms is %s', (ms, want) => {
    expect(formatElapsed(ms)).toBe(want);
  });
});

describe('an age', () => {
  const now = Date.parse('2026-01-02T00:00:00Z');
  it.each([
    [-1_000, '0s'],
    [119_000, '119s'],
    [120_000, '2m'],
    [7_199_000, '119m'],
    [7_200_000, '2h'],
    [172_799_000, '47h'],
    [172_800_000, '2d'],
  ])('%d ms is %s', (ms, want) => {
    expect(formatAge(new Date(now - ms).toISOString(), now)).toBe(want);
  });

  it('is unknown of an object that has no time of creation', () => {
    expect(formatAge(undefined, now)).toBe('<unknown>');
  });
});
