import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DurationError, parseDuration } from './duration.ts';

describe('parseDuration', () => {
  it.each([
    ['1s', 1_000],
    ['300s', 300_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['999999999s', 999_999_999_000],
  ])('WF-STATE-04 AMB-071 reads %s as %i ms', (text, want) => {
    expect(parseDuration(text, { field: 'timeout' })).toBe(want);
  });

  it.each([
    '',
    '5',
    's',
    '1.5s',
    '-1s',
    '+1s',
    '01s',
    '1m30s',
    '1d',
    '1ms',
    '1S',
    ' 1s',
    '1s ',
    '1s\n',
    '1e3s',
    '1000000000s',
  ])('AMB-071 refuses %j', (text) => {
    expect(() => parseDuration(text, { field: 'timeout' })).toThrow(DurationError);
  });

  it('AMB-071 allows 0s for a delay only, and no other zero', () => {
    expect(parseDuration('0s', { field: 'backoff', allowZero: true })).toBe(0);
    expect(() => parseDuration('0s', { field: 'timeout' })).toThrow(/^timeout: .*above zero/);
    expect(() => parseDuration('0m', { field: 'backoff', allowZero: true })).toThrow(/write 0s/);
    expect(() => parseDuration('0h', { field: 'timeout' })).toThrow(DurationError);
  });

  it('accepts the limit itself and refuses one second more', () => {
    const rules = { field: 'spec.states.build.timeout', maxMs: 10_000 };
    expect(parseDuration('9s', rules)).toBe(9_000);
    expect(parseDuration('10s', rules)).toBe(10_000);
    expect(() => parseDuration('11s', rules)).toThrow('spec.states.build.timeout: 11s is above the limit of 10s');
  });

  it('throws nothing but DurationError, and names the field, whatever the text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(resultOf(text)).toSatisfy((result) => Number(result) > 0 || (result as DurationError).field === 'here');
      }),
    );
  });
});

function resultOf(text: string): unknown {
  try {
    return parseDuration(text, { field: 'here' });
  } catch (error) {
    return error;
  }
}
