import { expect, it } from 'vitest';
import { createSharedCache, entryWith, sharesOf } from './shared-cache.ts';

const texts = () =>
  createSharedCache<{ readonly text: string }>({ ...sharesOf(10_000), weigh: ({ text }, key) => entryWith(key, text) });
const large = { text: 'x'.repeat(900) };

it('a tenant with many entries loses its own oldest ones, and takes four fifths at most', () => {
  const cache = texts();
  cache.set('bob', 'one', large);
  for (let index = 0; index < 100; index += 1) cache.set('eve', `${index}`, large);
  expect(cache.bytes).toBeLessThanOrEqual(10_000);
  expect(cache.get('bob', 'one')).toBe(large);
  expect(cache.get('eve', '0')).toBeUndefined();
  expect(cache.get('eve', '99')).toBe(large);
});

it('an entry that is deleted takes nothing, and one of the same key of another tenant stays', () => {
  const cache = texts();
  cache.set('bob', 'one', large);
  cache.set('eve', 'one', large);
  const before = cache.bytes;
  cache.delete('eve', 'one');
  cache.delete('eve', 'absent');
  expect(cache.get('eve', 'one')).toBeUndefined();
  expect(cache.get('bob', 'one')).toBe(large);
  expect(cache.bytes).toBe(before / 2);
});
