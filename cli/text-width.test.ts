import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fitText, padText, printable, textWidth } from './text-width.ts';

describe('the width of text in a terminal', () => {
  it.each([
    ['', 0],
    ['abc', 3],
    ['é', 1],
    ['e\u0301', 1],
    ['日本', 4],
    ['한글', 4],
    ['✔', 1],
    ['🎉', 2],
    ['👩‍👩‍👧', 2],
    ['\u200b', 0],
  ])('%j takes %d columns', (text, want) => {
    expect(textWidth(text)).toBe(want);
  });

  it('fitted text is never wider than there is room', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, columns) => {
        expect(textWidth(fitText(text, columns))).toBeLessThanOrEqual(Math.max(columns, 0));
      }),
    );
  });

  it.each([
    ['abcd', 4, 'abcd'],
    ['abcde', 4, 'abc…'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
    ['abc', 1, '…'],
    ['abc', 0, ''],
  ])('%j in %d columns is %j', (text, columns, want) => {
    expect(fitText(text, columns)).toBe(want);
  });

  it('padding counts columns, not characters', () => {
    expect(padText('日', 4)).toBe('日  ');
    expect(padText('abcd', 2)).toBe('abcd');
  });
});

describe('text of others in our terminal', () => {
  it.each([
    ['an escape sequence', 'a\u001b[2Jb', 'a�[2Jb'],
    ['a carriage return that would overwrite the line', 'safe\rEVIL', 'safe�EVIL'],
    ['an 8-bit control sequence', '\u009b31m', '�31m'],
    ['the end of a line', 'a\r\nb\nc', 'a ⏎ b ⏎ c'],
    ['a mark that reverses the direction', 'a\u202eb', 'a�b'],
    ['marks of direction', 'a\u200eb\u200fc\u061cd', 'a�b�c�d'],
    ['an isolate', 'a\u2066b', 'a�b'],
    ['a tab', 'a\tb', 'a b'],
    ['letters of any script', 'añ日🎉', 'añ日🎉'],
  ])('%s', (_title, text, want) => {
    expect(printable(text)).toBe(want);
  });
});
