import { describe, expect, it } from 'vitest';
import { createWordMatcher } from './word-matcher.ts';

describe('a text', () => {
  it.each<[query: string, text: string, isHolding: boolean]>([
    ['', 'any', true],
    [' \n\t ', '', true],
    ['a', '', false],
    ['PEOPLE greets', 'Greets people.', true],
    ['people cats', 'Greets people.', false],
    ['he she hers', 'ushers', true],
    ['he she hers his', 'ushers', false],
    ['a aa aaa aaaa', 'xaaax', false],
    ['a aa aaa aaaa', 'xaaaax', true],
    ['aab', 'aaaab', true],
    ['abcd bc', 'abcd', true],
    ['abce bc', 'abcd', false],
    ['bc abce', 'abcd abce', true],
    ['ÄPFEL', 'Viele Äpfel', true],
    ['日本 語', '日本語', true],
    ['日本 Ā', '日本語', false],
    ['😀', 'a 😀', true],
    ['\u0000', 'a', false],
  ])('is searched for %j: %j holds each word is %s', (query, text, isHolding) => {
    expect(createWordMatcher(query)(text)).toBe(isHolding);
  });

  it('is searched as a look for each word would, for all queries of two words over two letters', () => {
    const words = ['a', 'b', 'aa', 'ab', 'ba', 'bb', 'aab', 'aba', 'abb', 'bab', 'bba', 'abab', 'aaba'];
    const texts = Array.from({ length: 256 }, (_, bits) =>
      bits.toString(2).padStart(8, '0').replaceAll('0', 'a').replaceAll('1', 'b'),
    );
    const wrong = words.flatMap((one) =>
      words.flatMap((other) => {
        const isHolding = createWordMatcher(`${one} ${other}`);
        return texts.filter((text) => isHolding(text) !== (text.includes(one) && text.includes(other)));
      }),
    );
    expect(wrong).toEqual([]);
  });
});
