import { describe, expect, it } from 'vitest';
import { BoundedMap } from './bounded-map.ts';

const after = (keys: string, capacity = 3): string => {
  const map = new BoundedMap<string, number>(capacity);
  for (const key of keys) map.set(key, map.size);
  return [...map.keys()].join('');
};

describe('a bounded map', () => {
  it.each([
    ['ab', 'ab'],
    ['abc', 'abc'],
    ['abcd', 'bcd'],
    ['abcdef', 'def'],
  ])('after %s holds %s', (keys, want) => {
    expect(after(keys)).toBe(want);
  });

  it('counts a key that is set again once, and as the youngest', () => {
    expect(after('abca')).toBe('bca');
    expect(after('abcad')).toBe('cad');
  });

  it('forgets nobody for what is only read', () => {
    const map = new BoundedMap<string, number>(2).set('a', 1).set('b', 2);
    expect(map.get('a')).toBe(1);
    expect([...map.set('c', 3).keys()]).toEqual(['b', 'c']);
  });

  it('of no capacity holds nothing', () => {
    expect(after('a', 0)).toBe('');
  });

  it('may hold undefined as a key', () => {
    const map = new BoundedMap<undefined, number>(1);
    expect(map.set(undefined, 1).get(undefined)).toBe(1);
  });
});
