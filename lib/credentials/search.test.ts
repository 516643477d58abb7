import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Search } from './search.ts';

/** All places, each looked for from `step` behind the one before. */
function places(text: string, wanted: string, next: (from: number) => number, step = wanted.length): number[] {
  const found: number[] = [];
  for (let at = next(0); at >= 0 && at <= text.length; at = next(at + step)) found.push(at);
  return found;
}

describe('looking for a text', () => {
  it('finds the places that a plain search finds', () => {
    const word = fc.constantFrom('a', 'b', 'aa', 'ab', 'aaaaaaaa', 'aaaaaaab');
    const texts = fc.array(word, { minLength: 8, maxLength: 400, size: 'max' }).map((words) => words.join(''));
    const wanted = fc.array(word, { minLength: 8, maxLength: 24, size: 'max' }).map((words) => words.join(''));
    fc.assert(
      fc.property(texts, wanted, fc.boolean(), (around, secret, isHeld) => {
        const text = isHeld ? `${around}${secret}${around}${secret}` : around;
        const search = new Search(Buffer.from(text), Buffer.from(secret));
        expect(places(text, secret, (from) => search.next(from))).toEqual(
          places(text, secret, (from) => text.indexOf(secret, from)),
        );
      }),
      { numRuns: 500 },
    );
  });

  it.each([63, 64, 65])('finds a text behind its beginning alone, which is there %i times', (count) => {
    const wanted = 'beginning and more';
    const text = `${'beginning '.repeat(count)}${wanted}${wanted}`;
    const search = new Search(Buffer.from(text), Buffer.from(wanted));
    const first = count * 10;
    expect([search.next(0), search.next(first + 1), search.next(first + wanted.length + 1)]).toEqual([
      first,
      first + wanted.length,
      -1,
    ]);
  });
});
