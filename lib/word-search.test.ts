import { describe, expect, it } from 'vitest';
import { createManualClock } from '../test/support/manual-clock.ts';
import { createSearches, searchesPerTenant } from './word-search.ts';

/** As long as one part of a search, so that each text takes a turn. */
const text = 'a'.repeat(16_384);
const textsOf = (count: number): string[] => Array.from({ length: count }, () => text);

describe('searches of many tenants', () => {
  it('B5 hold those whose texts have each word, and all where there are no words', async () => {
    const searches = createSearches(createManualClock());
    const rows = ['A fox', 'a dog', 'a fox and a dog'];
    const find = (words: string | undefined) => searches.rowsHolding({ tenant: 'acme', words }, rows, (row) => row);
    expect(await find('fox a')).toEqual(['A fox', 'a fox and a dog']);
    expect([await find(undefined), await find(' ')]).toEqual([rows, rows]);
  });

  it('A8 take turns: however many of one tenant run, that of another has at least every third turn', async () => {
    const searches = createSearches(createManualClock());
    const read: string[] = [];
    const search = (tenant: string, count: number) =>
      searches.rowsHolding({ tenant, words: 'b' }, textsOf(count), (row) => (read.push(tenant), row));
    const many = Array.from({ length: searchesPerTenant }, () => search('many', 200));
    await new Promise((resolve) => void setImmediate(resolve));
    const before = read.length;
    await search('one', 50);
    const others = read.slice(before).filter((tenant) => tenant === 'many').length;
    expect(others).toBeLessThan(110);
    await Promise.all(many);
  });

  it('A8 read one part in each turn of the event loop, however many they are', async () => {
    const searches = createSearches(createManualClock());
    const readIn: number[] = [];
    let turn = 0;
    let next = setImmediate(function count() {
      turn += 1;
      next = setImmediate(count);
    });
    const search = (tenant: string) =>
      searches.run({ tenant, words: 'b' }, async (isHolding) => {
        for (const one of textsOf(20)) {
          await isHolding(one);
          readIn[turn] = (readIn[turn] ?? 0) + 1;
        }
      });
    await Promise.all(['a', 'b', 'c', 'd'].map(search));
    clearImmediate(next);
    expect(Math.max(...readIn.filter((count) => count !== undefined))).toBe(1);
  });

  it.each([
    [searchesPerTenant - 1, 'is served'],
    [searchesPerTenant, 'is refused'],
  ])('A8 beside %i of one tenant one more of it %s, and that of another is served', async (underWay, want) => {
    const searches = createSearches(createManualClock());
    const release: (() => void)[] = [];
    const hold = (tenant: string) =>
      searches.run({ tenant, words: 'x' }, () => new Promise<void>((resolve) => void release.push(resolve)));
    const running = Array.from({ length: underWay }, () => hold('many'));
    const more = hold('many');
    const outcome = more.then(
      () => 'is served',
      (error: unknown) => {
        expect(error).toMatchObject({ options: { status: 429, code: 'limit_exceeded' } });
        return 'is refused';
      },
    );
    const other = hold('one');
    for (const end of release) end();
    await Promise.all([...running, other]);
    expect(await outcome).toBe(want);
  });

  it('A8 make room for others of their tenant when they end, also by a failure', async () => {
    const searches = createSearches(createManualClock());
    const by = { tenant: 'many', words: 'x' };
    for (let at = 0; at <= searchesPerTenant; at += 1) {
      const failing = searches.run(by, () => Promise.reject(new Error('no rows')));
      await expect(failing).rejects.toThrow('no rows');
    }
    expect(await searches.rowsHolding(by, ['x'], (row) => row)).toEqual(['x']);
  });
});
