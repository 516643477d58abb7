import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../test/support/manual-clock.ts';
import { bigWaitMs, createFairPool, type FairPool, longestWaitMs, mayHold, type PoolPart } from './fair-pool.ts';

/** A pool whose clock does not advance. */
const poolOf = (options: Omit<Parameters<typeof createFairPool>[0], 'clock'>): FairPool =>
  createFairPool({ clock: createManualClock(), ...options });

/** Lets everybody in who may come in without waiting; gives back the places. */
function fill(pool: FairPool, tenant: string, cost = 1): PoolPart[] {
  const places: PoolPart[] = [];
  for (let place = pool.tryEnter({ tenant, cost }); place; place = pool.tryEnter({ tenant, cost })) places.push(place);
  return places;
}

/** Names in the order in which they were let in. */
function line(pool: FairPool) {
  const admitted: string[] = [];
  const places: PoolPart[] = [];
  const queue = (tenant: string, name: string, cost = 1): void => {
    void pool.enter({ tenant, cost }).then((place) => {
      admitted.push(name);
      places.push(place);
    });
  };
  return { admitted, places, queue };
}

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
};

describe('what one tenant may hold', () => {
  it.each([
    { size: 1, alone: 1 },
    { size: 2, alone: 1 },
    { size: 5, alone: 4 },
    { size: 19, alone: 15 },
    { size: 20, alone: 16 },
    { size: 21, alone: 16 },
    { size: 40, alone: 32 },
  ])('of $size places is $alone where no other tenant has any', ({ size, alone }) => {
    expect(fill(poolOf({ size }), 'a')).toHaveLength(alone);
  });

  it('leaves room for the next, and for the one after that', () => {
    const pool = poolOf({ size: 40 });
    expect(['a', 'b', 'c', 'd'].map((tenant) => fill(pool, tenant).length)).toEqual([32, 6, 1, 1]);
  });

  it('becomes the same for two as their work ends', async () => {
    const pool = poolOf({ size: 20 });
    const first = fill(pool, 'a');
    const { places, queue, admitted } = line(pool);
    for (let i = 0; i < 30; i++) queue('b', 'b');
    for (let i = 0; i < 30; i++) queue('a', 'a');
    for (const place of first) {
      place.leave();
      await settled();
    }
    expect(admitted.filter((name) => name === 'a').length).toBeGreaterThanOrEqual(8);
    expect(admitted.filter((name) => name === 'b').length).toBeGreaterThanOrEqual(8);
    for (const place of places) place.leave();
  });

  it.each([81, 99, 100, 101, 1_000])('counts bytes where the pool does, and %i of 100 as the share', (cost) => {
    const pool = poolOf({ size: 100 });
    const most = pool.tryEnter({ tenant: 'a', cost });
    expect([pool.used, pool.tryEnter({ tenant: 'a' })]).toEqual([80, undefined]);
    expect(fill(pool, 'b')).not.toHaveLength(0);
    most?.leave();
    expect(fill(pool, 'a', 30)).toHaveLength(2);
  });

  it('is the share for what waits as well: others come in while one that wanted all never ends', async () => {
    const clock = createManualClock();
    const pool = createFairPool({ size: 100, clock });
    const held = pool.tryEnter({ tenant: 'b', cost: 40 });
    const { admitted, queue } = line(pool);
    queue('a', 'all', 1_000);
    await clock.advance(bigWaitMs);
    held?.leave();
    await clock.advance(0);
    expect([admitted, pool.heldBy('a')]).toEqual([['all'], 80]);
    expect(pool.tryEnter({ tenant: 'c', cost: 20 })).toBeDefined();
  });

  it('is half for one of two in a pool that says so, and never less than one place', () => {
    const pool = poolOf({ size: 100, perFree: 1 });
    for (const tenant of ['a', 'b']) pool.tryEnter({ tenant, cost: 1_000 });
    expect([pool.heldBy('a'), pool.heldBy('b')]).toEqual([50, 50]);
    expect([1, 2].map((size) => poolOf({ size }).share)).toEqual([1, 1]);
  });
});

describe('a place that grows', () => {
  const sizesOf = (pool: FairPool): readonly number[] => [pool.used, pool.waiting];

  it('takes more as far as its tenant may hold that, and gives all of it back', () => {
    const pool = poolOf({ size: 100 });
    const place = pool.tryEnter({ tenant: 'a', cost: 10 });
    expect([place?.growTo(80), pool.used]).toEqual([true, 80]);
    expect([place?.growTo(90), pool.used]).toEqual([false, 80]);
    place?.shrinkTo(20);
    expect([place?.growTo(10), pool.used]).toEqual([true, 20]);
    place?.leave();
    expect([place?.growTo(30), pool.used]).toEqual([false, 0]);
  });

  it('leaves to the other tenants what is theirs', () => {
    const pool = poolOf({ size: 100 });
    const place = pool.tryEnter({ tenant: 'a', cost: 10 });
    const other = pool.tryEnter({ tenant: 'b', cost: 40 });
    expect([place?.growTo(60), place?.growTo(40)]).toEqual([false, true]);
    other?.leave();
    expect(place?.growTo(60)).toBe(true);
  });

  it('comes before what waits of its own tenant, and behind a first place that waits', async () => {
    const pool = poolOf({ size: 100 });
    const place = pool.tryEnter({ tenant: 'a', cost: 60 });
    const { queue } = line(pool);
    queue('a', 'a', 60);
    expect([place?.growTo(70), ...sizesOf(pool)]).toEqual([true, 70, 1]);
    queue('b', 'b', 50);
    await settled();
    expect([place?.growTo(80), ...sizesOf(pool)]).toEqual([false, 70, 2]);
  });
});

describe('who waits', () => {
  it('comes in the order of arrival within a tenant, and by turns between tenants', async () => {
    const pool = poolOf({ size: 1 });
    const last = pool.tryEnter({ tenant: 'x' });
    const { admitted, places, queue } = line(pool);
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue(name.slice(0, 1), name);
    last?.leave();
    for (let done = 0; done < 6; done++) {
      await settled();
      places[done]?.leave();
    }
    expect(admitted).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect([pool.used, pool.waiting]).toEqual([0, 0]);
  });

  it('is never passed by those who come later, though a place is free', async () => {
    const pool = poolOf({ size: 10 });
    const held = pool.tryEnter({ tenant: 'a', cost: 6 });
    const { admitted, places, queue } = line(pool);
    queue('big', 'big', 8);
    queue('small', 'small', 1);
    await settled();
    expect([admitted, pool.tryEnter({ tenant: 'late' })]).toEqual([[], undefined]);
    held?.leave();
    await settled();
    expect(admitted).toEqual(['big', 'small']);
    for (const place of places) place.leave();
  });

  it('keeps smaller ones waiting for five seconds where what is held is never given back', async () => {
    const clock = createManualClock();
    const pool = createFairPool({ size: 100, clock });
    const held = pool.tryEnter({ tenant: 'stuck', cost: 60 });
    const { admitted, places, queue } = line(pool);
    queue('big', 'big', 80);
    queue('small', 'small', 5);
    await clock.advance(bigWaitMs - 1);
    expect([admitted, pool.tryEnter({ tenant: 'late' })]).toEqual([[], undefined]);
    await clock.advance(1);
    expect(admitted).toEqual(['small']);
    pool.tryEnter({ tenant: 'late' })?.leave();
    queue('other', 'other', 5);
    held?.leave();
    await clock.advance(0);
    expect(admitted).toEqual(['small', 'other', 'big']);
    expect(clock.sleepers).toBe(0);
    for (const place of places) place.leave();
  });

  it('is served when twice its part has come back, however many smaller ones come meanwhile', async () => {
    const clock = createManualClock();
    const pool = createFairPool({ size: 100, clock });
    const { admitted, places, queue } = line(pool);
    for (let index = 0; index < 20; index += 1) queue(`small-${index}`, `small-${index}`, 5);
    await clock.advance(0);
    expect(pool.used).toBe(100);
    queue('big', 'big', 40);
    await clock.advance(bigWaitMs);
    let returned = 0;
    for (let index = 20; index < 60 && !admitted.includes('big'); index += 1) {
      queue(`small-${index}`, `small-${index}`, 5);
      places[index - 20]?.leave();
      returned += 5;
      await clock.advance(1_000);
    }
    expect(admitted).toContain('big');
    expect(returned).toBeLessThanOrEqual(2 * 40);
    // The others had the other half.
    expect(admitted.length).toBeGreaterThan(20 + 5);
  });

  it.each([
    { of: 'its own', waitMs: 20_000 },
    { of: 'no', waitMs: undefined },
  ])('is refused when its time is over, in a pool with $of longest wait, and the others pass', async ({ waitMs }) => {
    const clock = createManualClock();
    const pool = createFairPool({ size: 100, clock, ...(waitMs === undefined ? {} : { waitMs }) });
    const over = waitMs ?? longestWaitMs;
    const held = pool.tryEnter({ tenant: 'stuck', cost: 60 });
    const refusals: unknown[] = [];
    pool.enter({ tenant: 'big', cost: 80 }).catch((error: unknown) => refusals.push(error));
    await clock.advance(over - 1);
    expect([refusals, pool.waiting]).toEqual([[], 1]);
    await clock.advance(1);
    expect(refusals).toMatchObject([{ code: 'unavailable', reason: 'Overloaded' }]);
    expect([pool.waiting, pool.used, clock.sleepers]).toEqual([0, 60, 0]);
    held?.leave();
    expect(pool.used).toBe(0);
  });

  it('leaves the line when its signal aborts, and lets the others pass', async () => {
    const pool = poolOf({ size: 5 });
    const held = pool.tryEnter({ tenant: 'a', cost: 2 });
    const stop = new AbortController();
    const given = pool.enter({ tenant: 'b', cost: 4, signal: stop.signal });
    const { admitted, queue } = line(pool);
    queue('c', 'c');
    stop.abort(new Error('enough'));
    await expect(given).rejects.toThrow('enough');
    await settled();
    expect([admitted, pool.waiting]).toEqual([['c'], 0]);
    await expect(pool.enter({ tenant: 'b', signal: stop.signal })).rejects.toThrow('enough');
    held?.leave();
  });

  it.each([
    { waiting: 0, alone: 0 },
    { waiting: 1, alone: 1 },
    { waiting: 5, alone: 4 },
    { waiting: 10, alone: 8 },
  ])('is refused where of $waiting places in the line its tenant has $alone', async ({ waiting, alone }) => {
    const pool = poolOf({ size: 1, waiting });
    const held = pool.tryEnter({ tenant: 'x' });
    for (let i = 0; i < alone; i++) void pool.enter({ tenant: 'a' });
    await expect(pool.enter({ tenant: 'a' })).rejects.toMatchObject({ code: 'unavailable', reason: 'Overloaded' });
    if (waiting > 1) void pool.enter({ tenant: 'b' });
    expect(pool.waiting).toBe(waiting > 1 ? alone + 1 : alone);
    held?.leave();
  });
});

it('a task gives its place back when it ends, however it ends, and once', async () => {
  const pool = poolOf({ size: 1 });
  expect(await pool.run({ tenant: 'a' }, async () => pool.used)).toBe(1);
  await expect(pool.run({ tenant: 'a' }, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  const place = pool.tryEnter({ tenant: 'a' });
  place?.leave();
  const next = pool.tryEnter({ tenant: 'b' });
  place?.leave();
  expect([pool.used, next === undefined]).toEqual([1, false]);
});

it('a tenant that holds nothing gets a place at once while another one never ends what it began, however large', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 200 }), fc.array(fc.integer({ min: 1, max: 400 })), (size, costs) => {
      const pool = poolOf({ size });
      for (const cost of costs) pool.tryEnter({ tenant: 'hostile', cost });
      fill(pool, 'hostile');
      expect(pool.used).toBeLessThanOrEqual(pool.share);
      expect(pool.used).toBeLessThan(size);
      expect(pool.tryEnter({ tenant: 'other' })).toBeDefined();
    }),
  );
});

it('no more is held than there is, and no caller waits for ever, in any order of calls', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ tenant: fc.constantFrom('a', 'b', 'c'), cost: fc.integer({ min: 1, max: 12 }) })),
      async (entries) => {
        const pool = poolOf({ size: 8 });
        const ended = entries.map((entry) =>
          pool.run(entry, async () => {
            expect(pool.used).toBeLessThanOrEqual(8);
            await settled();
          }),
        );
        await Promise.all(ended);
        expect([pool.used, pool.waiting]).toEqual([0, 0]);
      },
    ),
  );
});

it('may take nothing of what is not free', () => {
  expect([mayHold(0, 0), mayHold(0, 1), mayHold(0, 5, 6), mayHold(3, 2), mayHold(4, 2)]).toEqual([
    false,
    true,
    false,
    true,
    false,
  ]);
});

it('makes no error for a wait that ends with a turn: a fleet that comes back waits ten thousand times', async () => {
  const signals: (AbortSignal | undefined)[] = [];
  const clock = {
    now: () => 0,
    steadyMs: () => 0,
    sleep: (_ms: number, signal?: AbortSignal) => (signals.push(signal), forEver),
  };
  const pool = createFairPool({ size: 2, clock });
  const [place] = fill(pool, 'acme');
  const waiting = pool.enter({ tenant: 'acme' });
  place?.leave();
  await waiting;
  expect(signals.map((signal) => [signal?.aborted, signal?.reason instanceof Error])).toEqual([[true, false]]);
});

const forEver = new Promise<void>(() => undefined);
