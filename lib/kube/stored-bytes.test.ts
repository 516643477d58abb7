import { describe, expect, it } from 'vitest';
import { storedBytes } from './stored-bytes.ts';

describe('what the API server stores of an object', () => {
  it.each<[title: string, object: object, want: number]>([
    ['plain text', { a: 'xy' }, 10],
    ['text in several bytes', { a: 'é💩' }, 8 + 2 + 4],
    ['characters of HTML', { a: '<>&' }, 8 + 18],
    ['separators of lines and paragraphs', { a: '\u2028\u2029' }, 8 + 12],
    ['a quote, escaped by both', { a: '"' }, 10],
  ])('is counted for %s', (_title, object, want) => {
    expect(storedBytes(object)).toBe(want);
  });
});
