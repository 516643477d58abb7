import { describe, expect, it } from 'vitest';
import { createClockSkew } from './clock-skew.ts';

const date = 'Sun, 06 Nov 1994 08:49:37 GMT';
const at = Date.parse(date);

describe('the skew of our clock', () => {
  it.each([
    { what: 'none', sentAt: at + 200, answeredAt: at + 300, want: 0 },
    { what: 'the last moment of that second', sentAt: at + 999, answeredAt: at + 1_050, want: 0 },
    { what: 'a slow answer', sentAt: at - 9_000, answeredAt: at + 12_000, want: 0 },
    { what: 'ahead by more than a second can hide', sentAt: at + 6_001, answeredAt: at + 6_050, want: 5_001 },
    { what: 'behind', sentAt: at - 7_000, answeredAt: at - 6_900, want: -6_900 },
  ])('$what is $want ms', ({ sentAt, answeredAt, want }) => {
    const skew = createClockSkew();
    skew.observe(date, sentAt, answeredAt);
    expect(skew.ms()).toBe(want);
  });

  it('is unknown before the first answer, and stays where an answer has no date', () => {
    const skew = createClockSkew();
    expect(skew.ms()).toBeUndefined();
    skew.observe(undefined, at, at);
    skew.observe('yesterday', at, at);
    expect(skew.ms()).toBeUndefined();
    skew.observe(date, at + 9_000, at + 9_000);
    skew.observe(undefined, at, at);
    expect(skew.ms()).toBe(8_000);
  });
});
