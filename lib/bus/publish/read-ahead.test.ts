import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAhead, type TakeRoom } from './read-ahead.ts';

/** A log of these places that grows by one of `bursts` behind each request. */
function growing(places: readonly number[], known: number, bursts: readonly number[]) {
  let length = known;
  let requests = 0;
  return async (from: number) => {
    const seq = places.slice(0, length).find((place) => place >= from);
    length += bursts[requests % bursts.length] ?? 0;
    requests += 1;
    return seq === undefined ? undefined : { seq };
  };
}

/** Room without a bound. */
const free: TakeRoom = () => ({ [Symbol.dispose]: () => undefined });

/** Mostly nothing comes between two requests. */
const bursts = fc.array(
  fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat({ max: 9 }) }),
  {
    minLength: 1,
    maxLength: 12,
  },
);
/** Places that mostly follow one another, as those of a log that nearly all belongs to one subject. */
const step = fc.oneof({ weight: 20, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constant(3) });
const rising = fc
  .array(step, { maxLength: 200, size: 'max' })
  .map((steps) => steps.reduce<number[]>((places, step) => [...places, (places.at(-1) ?? 0) + step], []));

const whole = { after: 0, most: 256, bytes: 1_000 };

describe('reading ahead', () => {
  it('leaves out no message that came while others were asked for', async () => {
    await fc.assert(
      fc.asyncProperty(rising, fc.nat({ max: 200 }), bursts, async (places, known, growth) => {
        const found = (
          await readAhead(growing(places, known, growth), { after: 0, most: 1_000, bytes: 1_000 }, free)
        ).map(({ seq }) => seq);
        expect(found).toEqual(places.slice(0, found.length));
      }),
    );
  });

  it('ends a page at a bound of bytes, one larger message excepted, and asks for little that does not fit', async () => {
    const sizes = [10, 30, 30, 30, 200, 50, ...Array.from({ length: 100 }, () => 25)];
    let asked = 0;
    const next = async (from: number) => {
      asked += 1;
      const size = sizes[from - 1];
      return size === undefined ? undefined : { seq: from, data: new Uint8Array(size) };
    };
    const pageBehind = async (after: number) =>
      (await readAhead(next, { after, most: 256, bytes: 100 }, free)).map(({ data }) => data.byteLength);
    expect(await pageBehind(0)).toEqual([10, 30, 30, 30]);
    expect(await pageBehind(4)).toEqual([200]);
    expect(await pageBehind(5)).toEqual([50, 25, 25]);
    asked = 0;
    expect(await pageBehind(6)).toEqual([25, 25, 25, 25]);
    expect(asked).toBeLessThanOrEqual(6);
  });

  it('asks for no more at once than there is room for, whatever comes behind small messages, and gives it back', async () => {
    const large = 1_000_000;
    let [underWay, mostUnderWay, held] = [0, 0, 0];
    const next = async (from: number) => {
      underWay += 1;
      mostUnderWay = Math.max(mostUnderWay, underWay);
      await setImmediate();
      underWay -= 1;
      return from > 60 ? undefined : { seq: from, data: new Uint8Array(from <= 20 ? 10 : large) };
    };
    const takeRoom: TakeRoom = () => {
      if (held === 4) return undefined;
      held += 1;
      return { [Symbol.dispose]: () => void (held -= 1) };
    };
    const page = await readAhead(next, { after: 0, most: 256, bytes: 3 * large }, takeRoom);
    expect(page.map(({ data }) => data.byteLength)).toEqual([...Array.from({ length: 20 }, () => 10), large, large]);
    expect(mostUnderWay).toBe(5);
    expect(held).toBe(0);
    const failing = readAhead(
      async (from) => (from < 4 ? { seq: from } : Promise.reject(new Error('away'))),
      whole,
      takeRoom,
    );
    await expect(failing).rejects.toThrow('away');
    expect(held).toBe(0);
    expect(
      await readAhead(
        async (from) => (from < 9 ? { seq: from } : undefined),
        whole,
        () => undefined,
      ),
    ).toHaveLength(8);
  });

  it('finds all of a log that does not grow, a page of at most so many', async () => {
    await fc.assert(
      fc.asyncProperty(rising, fc.integer({ min: 1, max: 50 }), async (places, most) => {
        const next = async (from: number) => {
          const seq = places.find((place) => place >= from);
          return seq === undefined ? undefined : { seq };
        };
        expect((await readAhead(next, { after: 0, most, bytes: 1_000 }, free)).map(({ seq }) => seq)).toEqual(
          places.slice(0, most),
        );
      }),
    );
  });
});
