import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createWorkQueue, type WorkQueue } from './work-queue.ts';

function setUp(options: { random?: number; workers?: number } = {}) {
  const clock = createManualClock(0);
  const waits: number[] = [];
  const depths: number[] = [];
  const observer = { depth: (depth: number) => void depths.push(depth), waited: (ms: number) => void waits.push(ms) };
  const queue = createWorkQueue(
    { clock, random: () => options.random ?? 1, observer },
    options.workers ?? Number.POSITIVE_INFINITY,
  );
  return { clock, queue, waits, depths };
}

/** Keys that are ready now, taken and given back. */
async function readyKeys(queue: WorkQueue): Promise<string[]> {
  const keys: string[] = [];
  while (queue.depth > 0) {
    const key = (await queue.take()) ?? '';
    keys.push(key);
    queue.done(key);
  }
  return keys;
}

const hourMs = 3_600_000;

describe.each([-hourMs, -1, 1, hourMs])('a queue whose time of day is set by %i ms', (stepMs) => {
  it.each<[string, (queue: WorkQueue) => void, number]>([
    ['a delay', (queue) => queue.addAfter('n/a', 50), 50],
    ['a backoff after a failure', (queue) => queue.addRateLimited('n/a'), 50],
    ['a backoff after a refusal', (queue) => queue.addRefused('n/a'), 1_000],
  ])('keeps the length of %s', async (_title, add, ms) => {
    const { clock, queue } = setUp();
    add(queue);
    clock.step(stepMs);
    await clock.advance(ms - 1);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
  });

  it('keeps the time for which news do not hurry a key that keeps failing', async () => {
    const { clock, queue } = setUp();
    for (let failures = 0; failures < 3; failures += 1) {
      queue.addRateLimited('n/a');
      await clock.advance(50 * 2 ** failures);
      await readyKeys(queue);
    }
    queue.addRateLimited('n/a');
    clock.step(stepMs);
    queue.add('n/a');
    await clock.advance(399);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
  });

  it('measures how long keys wait', async () => {
    const { clock, queue, waits } = setUp();
    queue.add('n/a');
    await clock.advance(30);
    clock.step(stepMs);
    expect(queue.oldestMs).toBe(30);
    await queue.take();
    expect(waits).toEqual([30]);
  });
});

describe('a queue', () => {
  it('tells its depth, also where a worker that waited gets a key because another one has ended', async () => {
    const { queue, depths } = setUp({ workers: 2 });
    queue.add('n/a');
    queue.add('n/b');
    await queue.take();
    const waiting = queue.take();
    expect(depths.at(-1)).toBe(1);
    queue.done('n/a');
    expect(await waiting).toBe('n/b');
    expect(depths.at(-1)).toBe(0);
  });

  it('holds a key once, first come first served', async () => {
    const { queue } = setUp();
    for (const key of ['b', 'a', 'b', 'a', 'c']) queue.add(key);
    expect(await readyKeys(queue)).toEqual(['b', 'a', 'c']);
  });

  it('hands a key to a worker that already waits', async () => {
    const { queue } = setUp();
    const taken = queue.take();
    queue.add('a');
    expect(await taken).toBe('a');
    expect(queue.depth).toBe(0);
  });

  it('does not hand out a key that is being worked on, but again right after', async () => {
    const { queue } = setUp();
    queue.add('a');
    await queue.take();
    queue.add('a');
    queue.add('a');
    expect(queue.depth).toBe(0);
    queue.done('a');
    expect(await readyKeys(queue)).toEqual(['a']);
  });

  it('gives namespaces their turns, and keys whose time has come the place of those that come then', async () => {
    const { queue, clock } = setUp();
    queue.addAfter('a/late', 50);
    for (const key of ['a/1', 'a/2', 'b/1']) queue.add(key);
    await clock.advance(50);
    queue.add('a/3');
    expect(await readyKeys(queue)).toEqual(['a/1', 'b/1', 'a/2', 'a/late', 'a/3']);
  });

  it('leaves a worker idle rather than give one namespace more than its part', async () => {
    const { queue } = setUp({ workers: 2 });
    for (const key of ['a/1', 'a/2']) queue.add(key);
    expect(await queue.take()).toBe('a/1');
    const idle = queue.take();
    const idler = queue.take();
    queue.add('b/1');
    expect(await idle).toBe('b/1');
    queue.done('a/1');
    expect(await idler).toBe('a/2');
  });

  it('says how long the oldest key has been ready', async () => {
    const { queue, clock } = setUp();
    expect(queue.oldestMs).toBe(0);
    queue.add('a/1');
    await clock.advance(30);
    queue.add('b/1');
    await clock.advance(40);
    expect(queue.oldestMs).toBe(70);
    await queue.take();
    expect(queue.oldestMs).toBe(40);
  });

  it('reports how long a key waited', async () => {
    const { queue, clock, waits } = setUp();
    queue.add('a');
    await clock.advance(70);
    await queue.take();
    expect(waits).toEqual([70]);
  });
});

describe('delays', () => {
  it.each([
    { at: 499, want: [] },
    { at: 500, want: ['a'] },
    { at: 501, want: ['a'] },
  ])('a key due at 500 ms is ready at $at ms: $want', async ({ at, want }) => {
    const { queue, clock } = setUp();
    queue.addAfter('a', 500);
    await clock.advance(at);
    expect(await readyKeys(queue)).toEqual(want);
  });

  it('the earliest of several wins and later ones are dropped', async () => {
    const { queue, clock } = setUp();
    queue.addAfter('a', 500);
    queue.addAfter('a', 100);
    queue.addAfter('a', 300);
    await clock.advance(100);
    expect(await readyKeys(queue)).toEqual(['a']);
    await clock.advance(10_000);
    expect(await readyKeys(queue)).toEqual([]);
  });

  it('nothing or less to wait is ready at once', async () => {
    const { queue } = setUp();
    queue.addAfter('a', 0);
    queue.addAfter('b', -5);
    expect(await readyKeys(queue)).toEqual(['a', 'b']);
  });

  it('ten thousand delays need one sleep', async () => {
    const { queue, clock } = setUp();
    for (let i = 0; i < 10_000; i++) queue.addAfter(`k${i}`, 10_000 - i);
    expect(clock.sleepers).toBe(1);
    await clock.advance(3);
    expect(queue.depth).toBe(3);
  });

  it('a delay beyond what a timer can hold is still waited for', async () => {
    const { queue, clock } = setUp();
    const fiftyDays = 50 * 86_400_000;
    queue.addAfter('a', fiftyDays);
    await clock.advance(fiftyDays - 1);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
  });
});

describe('backoff', () => {
  it('doubles for each failure of a key up to the maximum, and forget resets it', async () => {
    const { queue, clock } = setUp();
    const delays: number[] = [];
    for (let i = 0; i < 12; i++) {
      queue.addRateLimited('a');
      let waited = 0;
      for (; queue.depth === 0; waited += 50) await clock.advance(50);
      delays.push(waited);
      await readyKeys(queue);
    }
    expect(delays).toEqual([50, 100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000, 30_000]);
    expect(queue.failures('a')).toBe(12);
    queue.forget('a');
    expect(queue.failures('a')).toBe(0);
    queue.addRateLimited('a');
    await clock.advance(50);
    expect(queue.depth).toBe(1);
  });

  it('is at least half of that, whatever the random number', async () => {
    const { queue, clock } = setUp({ random: 0 });
    queue.addRateLimited('a');
    await clock.advance(24);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(queue.depth).toBe(1);
  });

  it('after a refusal doubles from a second up to five minutes, and begins anew when there is news', async () => {
    const { queue, clock } = setUp();
    const refuse = async (): Promise<number> => {
      queue.addRefused('a');
      let waited = 0;
      for (; queue.depth === 0; waited += 1_000) await clock.advance(1_000);
      await readyKeys(queue);
      return waited / 1_000;
    };
    const delays: number[] = [];
    for (let i = 0; i < 11; i++) delays.push(await refuse());
    expect(delays).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
    queue.add('a');
    await readyKeys(queue);
    expect([await refuse(), await refuse()]).toEqual([1, 2]);
    queue.forget('a');
    expect(await refuse()).toBe(1);
    expect(queue.failures('a')).toBe(0);
  });

  it('of one key does not hold up another', async () => {
    const { queue, clock } = setUp();
    for (let i = 0; i < 5; i++) queue.addRateLimited('bad');
    queue.addRateLimited('good');
    await clock.advance(50);
    expect(await readyKeys(queue)).toContain('good');
  });
});

describe('closing', () => {
  it('lets go of what waits, wakes idle workers and takes nothing more in', async () => {
    const { queue, clock } = setUp();
    queue.add('a');
    await queue.take();
    const idle = queue.take();
    queue.addAfter('b', 10);
    queue.close();
    expect(await idle).toBeUndefined();
    queue.add('c');
    queue.addAfter('d', 1);
    queue.add('a');
    await clock.advance(100);
    expect(clock.sleepers).toBe(0);
    queue.done('a');
    expect([queue.depth, await queue.take()]).toEqual([0, undefined]);
  });
});

describe('a key that keeps failing', () => {
  /** Fails so many times, each as soon as it may. */
  async function failing(times: number) {
    const set = setUp();
    for (let i = 0; i < times; i++) {
      set.queue.addRateLimited('bad');
      if (i < times - 1) await set.clock.advance(60_000);
      if (i < times - 1) await readyKeys(set.queue);
    }
    return set;
  }

  it.each([
    { failures: 1, atOnce: true },
    { failures: 2, atOnce: true },
    { failures: 3, atOnce: false },
    { failures: 4, atOnce: false },
  ])('is hurried by news after $failures failures: $atOnce', async ({ failures, atOnce }) => {
    const { queue, clock } = await failing(failures);
    queue.add('bad');
    queue.add('good');
    expect(await readyKeys(queue)).toEqual(atOnce ? ['bad', 'good'] : ['good']);
    await clock.advance(50 * 2 ** (failures - 1));
    expect(await readyKeys(queue)).toEqual(['bad']);
  });

  it('is not hurried by news that came while it failed', async () => {
    const { queue, clock } = await failing(5);
    await clock.advance(60_000);
    expect(await queue.take()).toBe('bad');
    queue.add('bad');
    queue.addRateLimited('bad');
    queue.done('bad');
    expect(queue.depth).toBe(0);
    await clock.advance(1_599);
    expect(queue.depth).toBe(0);
    await clock.advance(1);
    expect(await readyKeys(queue)).toEqual(['bad']);
  });

  it('is hurried again once it has succeeded', async () => {
    const { queue } = await failing(5);
    queue.forget('bad');
    queue.add('bad');
    expect(await readyKeys(queue)).toEqual(['bad']);
  });
});

type Move =
  | { act: 'add' | 'done' | 'limited'; key: string }
  | { act: 'take' }
  | { act: 'after'; key: string; ms: number }
  | { act: 'pass'; ms: number };

const key = fc.constantFrom('a/1', 'a/2', 'b/1');
const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.oneof(
    fc.record({ act: fc.constantFrom('add' as const, 'done' as const, 'limited' as const), key }),
    fc.record({ act: fc.constant('take' as const) }),
    fc.record({ act: fc.constant('after' as const), key, ms: fc.integer({ min: 0, max: 300 }) }),
    fc.record({ act: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 200 }) }),
  ),
  { maxLength: 30 },
);

it('property: a key is never held twice, and whatever was added is handed out after it was added', async () => {
  await fc.assert(
    fc.asyncProperty(moves, async (plan) => {
      const { queue, clock } = setUp({ workers: 8 });
      const held = new Set<string>();
      /** Keys added (or to be due) since they were last handed out. */
      const owed = new Set<string>();
      const take = async (): Promise<void> => {
        const taken = await queue.take();
        if (taken === undefined) return;
        expect(held.has(taken)).toBe(false);
        held.add(taken);
        owed.delete(taken);
      };
      for (const move of plan) {
        if (move.act === 'take' && queue.depth > 0) await take();
        if (move.act === 'add') queue.add(move.key);
        if (move.act === 'limited') queue.addRateLimited(move.key);
        if (move.act === 'after') queue.addAfter(move.key, move.ms);
        if (move.act === 'add' || move.act === 'limited' || move.act === 'after') owed.add(move.key);
        if (move.act === 'pass') await clock.advance(move.ms);
        if (move.act === 'done' && held.delete(move.key)) queue.done(move.key);
      }
      for (const one of held) queue.done(one);
      held.clear();
      await clock.advance(60_000);
      while (queue.depth > 0) await take();
      expect([...owed]).toEqual([]);
      expect(clock.sleepers).toBe(0);
    }),
    { numRuns: 150 },
  );
});
