import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { placesOf } from './search.ts';

/** Places that a plain search finds. */
function plainPlaces(text: string, wanted: string): number[] {
  const found: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) found.push(at);
  return found;
}

const places = (text: string, wanted: string): number[] =>
  [...placesOf(Buffer.from(text), Buffer.from(wanted))].filter((place) => place !== undefined);

describe('looking for a text', () => {
  it('finds the places that a plain search finds', () => {
    const word = fc.constantFrom('a', 'b', 'aa', 'ab', 'aaaaaaaa', 'aaaaaaab');
    const texts = fc.array(word, { minLength: 8, maxLength: 400, size: 'max' }).map((words) => words.join(''));
    const wanted = fc.array(word, { minLength: 8, maxLength: 24, size: 'max' }).map((words) => words.join(''));
    fc.assert(
      fc.property(texts, wanted, fc.boolean(), (around, secret, isHeld) => {
        const text = isHeld ? `${around}${secret}${around}${secret}` : around;
        expect(places(text, secret)).toEqual(plainPlaces(text, secret));
      }),
      { numRuns: 500 },
    );
  });

  it.each([63, 64, 65])('finds a text behind its beginning alone, which is there %i times', (count) => {
    const wanted = 'beginning and more';
    const first = count * 10;
    expect(places(`${'beginning '.repeat(count)}${wanted}${wanted}`, wanted)).toEqual([first, first + wanted.length]);
  });

  it.each([-1, 0, 1])('finds a text that ends %i bytes behind a pause', (behind) => {
    const vain = 'aaaaaaaa ';
    const start = 64 * vain.length - 'aaaaaaa '.length;
    const wanted = `${'a'.repeat(40)}b`;
    const at = start + 1_048_576 - wanted.length + behind;
    const text = `${vain.repeat(64)}`.padEnd(at, '.') + wanted;
    expect(places(text, wanted)).toEqual([at]);
    expect([...placesOf(Buffer.from(text), Buffer.from(wanted))]).toContain(undefined);
  });
});
