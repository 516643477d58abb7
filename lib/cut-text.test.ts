import { describe, expect, it } from 'vitest';
import { cutText } from './cut-text.ts';

describe('a text that is cut', () => {
  it.each([
    { text: 'abc', length: 2, want: 'ab' },
    { text: 'abc', length: 3, want: 'abc' },
    { text: 'abc', length: 4, want: 'abc' },
    { text: 'a😀c', length: 1, want: 'a' },
    { text: 'a😀c', length: 2, want: 'a' },
    { text: 'a😀c', length: 3, want: 'a😀' },
    { text: '', length: 0, want: '' },
  ])('$text at $length is $want', ({ text, length, want }) => {
    expect(cutText(text, length)).toBe(want);
  });
});
