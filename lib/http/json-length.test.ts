import { describe, expect, it } from 'vitest';
import { jsonLength } from './json-length.ts';

const all = Number.POSITIVE_INFINITY;

describe('the length of JSON that is not made', () => {
  it.each<[string, unknown]>([
    ['a text', 'abc'],
    ['a text with escapes', '"\n\u0001'],
    ['numbers and others', [1, -1.5, true, false, null]],
    ['nested values', { a: [{ b: 'c' }, {}, []], d: { e: 1, f: undefined } }],
    ['many objects', Array.from({ length: 1_000 }, () => ({}))],
  ])('is no more than that of %s, and not far from it', (_title, value) => {
    const length = JSON.stringify(value).length;
    expect(jsonLength(value, all)).toBeLessThanOrEqual(length);
    expect(jsonLength(value, all)).toBeGreaterThan(length / 5);
  });

  it('is counted no further than is asked for', () => {
    let read = 0;
    const texts = Array.from({ length: 1_000 }, () => ({
      get text() {
        read += 1;
        return 'x'.repeat(100);
      },
    }));
    expect(jsonLength(texts, 2_000)).toBeGreaterThanOrEqual(2_000);
    expect(read).toBeLessThan(20);
  });
});
