import { describe, expect, it } from 'vitest';
import { heapBytes } from './heap-bytes.ts';

describe('the bytes of a value', () => {
  it.each([4, 4_000])('are two for each of %i characters where one of them is not of Latin-1', (length) => {
    const latin = 'é'.repeat(length);
    const wide = `${'e'.repeat(length - 1)}ā`;
    const base = heapBytes('', 1e9);
    expect([latin, wide].map((text) => heapBytes(text, 1e9) - base)).toEqual([length, 2 * length]);
    expect(heapBytes({ [wide]: 0 }, 1e9) - heapBytes({ [latin]: 0 }, 1e9)).toBe(length);
  });
});
