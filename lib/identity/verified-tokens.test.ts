import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createVerifiedTokens } from './verified-tokens.ts';

describe('verified tokens', () => {
  it.each([
    [999, undefined],
    [1_000, 'anna'],
    [1_001, 'anna'],
    [4_999, 'anna'],
    [5_000, undefined],
    [5_001, undefined],
  ])('at %i ms one that is valid from 1,000 until 5,000 is %s', (now, want) => {
    const tokens = createVerifiedTokens<string>(createManualClock(now));
    tokens.add('t', { value: 'anna', keys: 1, from: 1_000, until: 5_000 });
    expect(tokens.get('t', 1)).toBe(want);
  });

  it('is not known any more when the keys have changed', () => {
    const tokens = createVerifiedTokens<string>(createManualClock(0));
    tokens.add('t', { value: 'anna', keys: 1, from: 0, until: 10 });
    expect(tokens.get('t', 2)).toBeUndefined();
    expect(tokens.get('t', 1)).toBeUndefined();
  });

  it('are as many as there is room for; the one used longest ago is dropped first', () => {
    const tokens = createVerifiedTokens<string>(createManualClock(0), 2);
    const valid = { keys: 1, from: 0, until: 10 };
    tokens.add('a', { value: 'a', ...valid });
    tokens.add('b', { value: 'b', ...valid });
    tokens.get('a', 1);
    tokens.add('c', { value: 'c', ...valid });
    expect(['a', 'b', 'c'].map((token) => tokens.get(token, 1))).toEqual(['a', undefined, 'c']);
  });

  it('take a new one in where all of them are in use', () => {
    const tokens = createVerifiedTokens<string>(createManualClock(0), 2);
    const valid = { keys: 1, from: 0, until: 10 };
    for (const token of ['a', 'b']) tokens.add(token, { value: token, ...valid });
    for (const token of ['a', 'b']) tokens.get(token, 1);
    tokens.add('c', { value: 'c', ...valid });
    expect(['a', 'b', 'c'].map((token) => tokens.get(token, 1))).toEqual([undefined, 'b', 'c']);
  });
});
