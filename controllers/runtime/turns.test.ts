import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayHold } from '../../lib/fair-pool.ts';
import { growthOf, proportional } from '../../test/support/processor-time.ts';
import { createTurns, type Turns } from './turns.ts';

function turnsOf(keys: readonly string[], workers = Number.POSITIVE_INFINITY): Turns {
  const turns = createTurns(workers);
  keys.forEach((key, since) => turns.push({ key, since }));
  return turns;
}

/** Takes until nothing may begin; nothing ends meanwhile. */
function begin(turns: Turns): string[] {
  const begun: string[] = [];
  for (let next = turns.next(); next !== undefined; next = turns.next()) begun.push(next.key);
  return begun;
}

/** The work of one worker, one key after another. */
function workOff(turns: Turns): string[] {
  const done: string[] = [];
  for (let next = turns.next(); next !== undefined; next = turns.next()) {
    done.push(next.key);
    turns.end(next.key);
  }
  return done;
}

describe('the next key', () => {
  const cases: Record<string, { keys: readonly string[]; one: readonly string[]; many: readonly string[] }> = {
    'of one namespace is the oldest': {
      keys: ['a/1', 'a/2', 'a/3'],
      one: ['a/1', 'a/2', 'a/3'],
      many: ['a/1', 'a/2', 'a/3'],
    },
    'is of the namespace whose turn it is': {
      keys: ['a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'c/1'],
      one: ['a/1', 'b/1', 'c/1', 'a/2', 'b/2', 'a/3'],
      many: ['a/1', 'b/1', 'c/1', 'a/2', 'b/2', 'a/3'],
    },
    'of what has no namespace comes in turn as well': {
      keys: ['x', 'y', 'a/1'],
      one: ['x', 'a/1', 'y'],
      many: ['x', 'a/1', 'y'],
    },
  };
  it.each(Object.entries(cases))('%s', (_, { keys, one, many }) => {
    expect(workOff(turnsOf(keys))).toEqual(one);
    expect(begin(turnsOf(keys))).toEqual(many);
  });

  it('is of the namespace with the fewest keys under way, however fast the others are', () => {
    const turns = turnsOf(['slow/1', 'slow/2', 'slow/3', 'fast/1', 'fast/2', 'fast/3']);
    expect([turns.next()?.key, turns.next()?.key]).toEqual(['slow/1', 'fast/1']);
    turns.end('fast/1');
    expect(turns.next()?.key).toBe('fast/2');
    turns.end('fast/2');
    expect(turns.next()?.key).toBe('fast/3');
    expect(turns.next()?.key).toBe('slow/2');
  });
});

describe('of one namespace', () => {
  it.each([
    { workers: 2, want: ['a/1'] },
    { workers: 3, want: ['a/1', 'a/2'] },
    { workers: 4, want: ['a/1', 'a/2', 'a/3'] },
    { workers: 5, want: ['a/1', 'a/2', 'a/3'] },
  ])('are under way, of $workers workers, $want.length, and there is one for another', ({ workers, want }) => {
    const turns = turnsOf(['a/1', 'a/2', 'a/3'], workers);
    expect(begin(turns)).toEqual(want);
    turns.push({ key: 'b/1', since: 9 });
    expect(turns.next()?.key).toBe('b/1');
    turns.end('b/1');
    turns.end('a/1');
    expect(turns.next()?.key).toBe(['a/1', 'a/2', 'a/3'][want.length]);
  });

  it('as many are under way as of any other, and one worker more is left for who comes last', () => {
    const slow = ['a', 'b', 'c'].flatMap((namespace) => Array.from({ length: 20 }, (_, i) => `${namespace}/${i}`));
    const turns = turnsOf(slow, 20);
    const begun = begin(turns);
    expect(['a', 'b', 'c'].map((namespace) => begun.filter((key) => key.startsWith(namespace)).length)).toEqual([
      6, 6, 6,
    ]);
    turns.push({ key: 'd/1', since: 99 });
    turns.push({ key: 'e/1', since: 99 });
    expect(begin(turns)).toEqual(['d/1', 'e/1']);
  });
});

it('the age is that of the oldest ready key', () => {
  const turns = turnsOf(['a/1', 'b/1', 'a/2']);
  expect(turns.oldest).toBe(0);
  turns.next();
  expect(turns.oldest).toBe(1);
  turns.next();
  expect(turns.oldest).toBe(2);
  turns.next();
  expect(turns.oldest).toBeUndefined();
});

it('what is ready can be forgotten, and what is under way still ends', () => {
  const turns = turnsOf(['a/1', 'a/2', 'b/1']);
  turns.next();
  turns.clear();
  expect([turns.size, turns.oldest, turns.next()]).toEqual([0, undefined, undefined]);
  turns.end('a/1');
  turns.push({ key: 'a/3', since: 0 });
  expect(turns.next()?.key).toBe('a/3');
});

it('a key costs the same among 200,000 as among 20,000', async () => {
  const workOffMany = (count: number): void => {
    const keys = Array.from({ length: count }, (_, i) => `n${i % 7}/${i}`);
    expect(workOff(turnsOf(keys))).toHaveLength(count);
  };
  expect(await growthOf(20_000, workOffMany)).toBeLessThan(proportional);
});

type Move = { readonly act: 'push'; readonly namespace: string } | { readonly act: 'next' | 'end' };

const moves = fc.array(
  fc.oneof(
    {
      weight: 3,
      arbitrary: fc.record({ act: fc.constant('push' as const), namespace: fc.constantFrom('a', 'b', 'c', 'd') }),
    },
    { weight: 2, arbitrary: fc.record({ act: fc.constantFrom('next' as const, 'end' as const) }) },
  ) as fc.Arbitrary<Move>,
  { maxLength: 80 },
);

/** Plays a plan against the plainest possible account of what is ready and under way. */
function play(plan: readonly Move[], workers: number) {
  const turns = createTurns(workers);
  const ready = new Map<string, string[]>();
  const underWay: string[] = [];
  const of = (namespace: string) => underWay.filter((key) => key.startsWith(`${namespace}/`)).length;
  const wrong: unknown[] = [];
  const take = (): void => {
    const least = Math.min(...[...ready].filter(([, keys]) => keys.length > 0).map(([namespace]) => of(namespace)));
    const key = turns.next()?.key;
    const namespace = key?.slice(0, 1) ?? '';
    const mayBegin = least < Number.POSITIVE_INFINITY && mayHold(least, workers - underWay.length);
    if (key === undefined ? mayBegin : of(namespace) !== least) wrong.push({ key, least, underWay });
    if (key === undefined) return;
    if (key !== ready.get(namespace)?.shift()) wrong.push({ key, ready });
    underWay.push(key);
  };
  plan.forEach((move, since) => {
    if (move.act === 'next') take();
    const ended = move.act === 'end' ? underWay.shift() : undefined;
    if (ended !== undefined) turns.end(ended);
    if (move.act !== 'push') return;
    const key = `${move.namespace}/${since}`;
    ready.set(move.namespace, [...(ready.get(move.namespace) ?? []), key]);
    turns.push({ key, since });
  });
  for (const key of underWay) turns.end(key);
  return { wrong, size: turns.size, rest: workOff(turns).toSorted(), ready: [...ready.values()].flat().toSorted() };
}

it('property: nothing is lost or taken twice, each namespace in its own order and within its bound', () => {
  fc.assert(
    fc.property(moves, fc.integer({ min: 1, max: 8 }), (plan, workers) => {
      const { wrong, size, rest, ready } = play(plan, workers);
      expect(wrong).toEqual([]);
      expect(rest).toEqual(ready);
      expect(size).toBe(ready.length);
    }),
    { numRuns: 500 },
  );
});

it('property: a namespace with one key among others with 10,000 is served within as many takes as there are namespaces', () => {
  const crowd = Array.from({ length: 10_000 }, (_, i) => i);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 20 }), (namespaces, workers) => {
      const turns = createTurns(workers);
      for (const i of crowd) turns.push({ key: `n${i % namespaces}/${i}`, since: i });
      const underWay: string[] = [];
      const take = (): string | undefined => {
        if (underWay.length >= workers) turns.end(underWay.shift() ?? '');
        const key = turns.next()?.key;
        if (key !== undefined) underWay.push(key);
        return key;
      };
      for (let i = 0; i < 100; i++) take();
      turns.push({ key: 'lonely/1', since: 0 });
      const taken = Array.from({ length: namespaces + 1 }, take);
      expect(taken).toContain('lonely/1');
    }),
    { numRuns: 60 },
  );
});
