import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAhead } from './read-ahead.ts';

/** A log of these places that grows by one with each request. */
function growing(places: readonly number[], known: number) {
  let length = known;
  return async (from: number) => {
    const seq = places.slice(0, length).find((place) => place >= from);
    length += 1;
    return seq === undefined ? null : { seq };
  };
}

const rising = fc
  .array(fc.integer({ min: 1, max: 3 }), { maxLength: 200 })
  .map((steps) => steps.reduce<number[]>((places, step) => [...places, (places.at(-1) ?? 0) + step], []));

describe('reading ahead', () => {
  it('leaves out no message that came while others were asked for', async () => {
    await fc.assert(
      fc.asyncProperty(rising, fc.nat({ max: 200 }), async (places, known) => {
        const found = (await readAhead(growing(places, known), { after: 0, most: 1_000 })).map(({ seq }) => seq);
        expect(found).toEqual(places.slice(0, found.length));
      }),
    );
  });

  it('finds all of a log that does not grow, a page of at most so many', async () => {
    await fc.assert(
      fc.asyncProperty(rising, fc.integer({ min: 1, max: 50 }), async (places, most) => {
        const next = async (from: number) => {
          const seq = places.find((place) => place >= from);
          return seq === undefined ? null : { seq };
        };
        expect((await readAhead(next, { after: 0, most })).map(({ seq }) => seq)).toEqual(places.slice(0, most));
      }),
    );
  });
});
