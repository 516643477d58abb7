import { expect, it } from 'vitest';
import { shortKey } from './short-key.ts';

it('a key of any length is kept in 128 characters at most, and two keys stay two', () => {
  const long = 'x'.repeat(1_000_000);
  expect(shortKey('a'.repeat(128))).toBe('a'.repeat(128));
  expect(shortKey('a'.repeat(129)).length).toBe(64);
  expect(shortKey(long)).not.toBe(shortKey(`${long}y`));
});
