import { describe, expect, it } from 'vitest';
import { cutToStored, storedBytes } from './stored-bytes.ts';

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

it.each<[title: string, text: string, most: number, want: string]>([
  ['that fits is whole', 'abc<', 11, 'abc<'],
  ['with one byte too many', 'abc<', 10, 'abc'],
  ['of plain characters', 'abcdef', 5, 'abc'],
  ['that begins with the long ones', '<<<abc', 2 + 12 + 5, '<<'],
  ['keeps whole characters', 'a💩b', 6, 'a'],
  ['without room', 'abc', 2, ''],
])('a text %s is cut to what is stored', (_title, text, most, want) => {
  expect(cutToStored(text, most)).toBe(want);
});
