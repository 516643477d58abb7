import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mayHold } from '../../lib/fair-pool.ts';
import { growthOf, proportional } from '../../test/support/processor-time.ts';
import { createNamespaceQueues, type NamespaceQueues } from './namespace-queues.ts';

function queuesOf(keys: readonly string[], workers = Number.POSITIVE_INFINITY): NamespaceQueues {
  const queues = createNamespaceQueues(workers);
  keys.forEach((key, since) => queues.push({ key, since }));
  return queues;
}

/** Takes until nothing may begin; nothing ends meanwhile. */
function begin(queues: NamespaceQueues): string[] {
  const begun: string[] = [];
  for (let next = queues.next(); next !== undefined; next = queues.next()) begun.push(next.key);
  return begun;
}

/** The work of one worker, one key after another. */
function workOff(queues: NamespaceQueues): string[] {
  const done: string[] = [];
  for (let next = queues.next(); next !== undefined; next = queues.next()) {
    done.push(next.key);
    queues.end(next.key);
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
    expect(workOff(queuesOf(keys))).toEqual(one);
    expect(begin(queuesOf(keys))).toEqual(many);
  });

  it('is of the namespace with the fewest keys under way, however fast the others are', () => {
    const queues = queuesOf(['slow/1', 'slow/2', 'slow/3', 'fast/1', 'fast/2', 'fast/3']);
    expect([queues.next()?.key, queues.next()?.key]).toEqual(['slow/1', 'fast/1']);
    queues.end('fast/1');
    expect(queues.next()?.key).toBe('fast/2');
    queues.end('fast/2');
    expect(queues.next()?.key).toBe('fast/3');
    expect(queues.next()?.key).toBe('slow/2');
  });
});

describe('of one namespace', () => {
  it.each([
    { workers: 2, want: ['a/1'] },
    { workers: 3, want: ['a/1', 'a/2'] },
    { workers: 4, want: ['a/1', 'a/2', 'a/3'] },
    { workers: 5, want: ['a/1', 'a/2', 'a/3'] },
  ])('are under way, of $workers workers, $want.length, and there is one for another', ({ workers, want }) => {
    const queues = queuesOf(['a/1', 'a/2', 'a/3'], workers);
    expect(begin(queues)).toEqual(want);
    queues.push({ key: 'b/1', since: 9 });
    expect(queues.next()?.key).toBe('b/1');
    queues.end('b/1');
    queues.end('a/1');
    expect(queues.next()?.key).toBe(['a/1', 'a/2', 'a/3'][want.length]);
  });

  it('as many are under way as of any other, and one worker more is left for who comes last', () => {
    const slow = ['a', 'b', 'c'].flatMap((namespace) => Array.from({ length: 20 }, (_, i) => `${namespace}/${i}`));
    const queues = queuesOf(slow, 20);
    const begun = begin(queues);
    expect(['a', 'b', 'c'].map((namespace) => begun.filter((key) => key.startsWith(namespace)).length)).toEqual([
      6, 6, 6,
    ]);
    queues.push({ key: 'd/1', since: 99 });
    queues.push({ key: 'e/1', since: 99 });
    expect(begin(queues)).toEqual(['d/1', 'e/1']);
  });
});

it('the age is that of the oldest ready key', () => {
  const queues = queuesOf(['a/1', 'b/1', 'a/2']);
  expect(queues.oldest).toBe(0);
  queues.next();
  expect(queues.oldest).toBe(1);
  queues.next();
  expect(queues.oldest).toBe(2);
  queues.next();
  expect(queues.oldest).toBeUndefined();
});

it('what is ready can be forgotten, and what is under way still ends', () => {
  const queues = queuesOf(['a/1', 'a/2', 'b/1']);
  queues.next();
  queues.clear();
  expect([queues.size, queues.oldest, queues.next()]).toEqual([0, undefined, undefined]);
  queues.end('a/1');
  queues.push({ key: 'a/3', since: 0 });
  expect(queues.next()?.key).toBe('a/3');
});

it('a key costs the same among 200,000 as among 20,000', async () => {
  const workOffMany = (count: number): void => {
    const keys = Array.from({ length: count }, (_, i) => `n${i % 7}/${i}`);
    expect(workOff(queuesOf(keys))).toHaveLength(count);
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
  const queues = createNamespaceQueues(workers);
  const ready = new Map<string, string[]>();
  const underWay: string[] = [];
  const of = (namespace: string) => underWay.filter((key) => key.startsWith(`${namespace}/`)).length;
  const wrong: unknown[] = [];
  const take = (): void => {
    const least = Math.min(...[...ready].filter(([, keys]) => keys.length > 0).map(([namespace]) => of(namespace)));
    const key = queues.next()?.key;
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
    if (ended !== undefined) queues.end(ended);
    if (move.act !== 'push') return;
    const key = `${move.namespace}/${since}`;
    ready.set(move.namespace, [...(ready.get(move.namespace) ?? []), key]);
    queues.push({ key, since });
  });
  for (const key of underWay) queues.end(key);
  return { wrong, size: queues.size, rest: workOff(queues).toSorted(), ready: [...ready.values()].flat().toSorted() };
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
      const queues = createNamespaceQueues(workers);
      for (const i of crowd) queues.push({ key: `n${i % namespaces}/${i}`, since: i });
      const underWay: string[] = [];
      const take = (): string | undefined => {
        if (underWay.length >= workers) queues.end(underWay.shift() ?? '');
        const key = queues.next()?.key;
        if (key !== undefined) underWay.push(key);
        return key;
      };
      for (let i = 0; i < 100; i++) take();
      queues.push({ key: 'lonely/1', since: 0 });
      const taken = Array.from({ length: namespaces + 1 }, take);
      expect(taken).toContain('lonely/1');
    }),
    { numRuns: 60 },
  );
});
