import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createBreaker, type ModelTurn } from './breaker.ts';
import { modelLimits } from './limits.ts';

const never = new AbortController().signal;

function world() {
  const clock = createManualClock();
  const rests: string[] = [];
  const breaker = createBreaker(clock, (isResting, tenant = 'all') => rests.push(`${tenant} ${isResting}`));
  const enter = (tenant = 'a', signal = never): Promise<ModelTurn> => breaker.enter({ tenant, signal });
  const fail = async (times: number, ...tenants: string[]): Promise<void> => {
    const turns: ModelTurn[] = [];
    for (let count = 0; count < times; count++) turns.push(await enter(tenants[count % tenants.length]));
    for (const turn of turns) turn.failed();
  };
  return { clock, breaker, enter, fail, rests };
}

describe('createBreaker', () => {
  it.each([-3_600_000, 3_600_000])('is open for 10 s, where the time of day is set by %i ms', async (ms) => {
    const { clock, enter, fail } = world();
    await fail(5, 'a');
    let isIn = false;
    void enter().then(() => (isIn = true));
    clock.step(ms);
    await clock.advance(9_999);
    expect(isIn).toBe(false);
    await clock.advance(1);
    expect(isIn).toBe(true);
  });

  it.each([
    [4, ['a'], false, false],
    [5, ['a'], true, false],
    [6, ['a'], true, false],
    [4, ['a', 'b'], false, false],
    [5, ['a', 'b'], true, true],
    [5, ['a', 'a', 'a', 'a', 'b'], false, false],
    [5, ['a', 'b', 'c', 'd', 'e'], true, true],
  ] as const)(
    'after %i failures in a row of %j, a and others wait: %s, %s',
    async (times, tenants, isOwn, isShared) => {
      const { breaker, fail } = world();
      await fail(times, ...tenants);
      expect([breaker.isOpenFor('a'), breaker.isOpenFor('z')]).toEqual([isOwn, isShared]);
    },
  );

  it.each([
    ['a', false, false],
    ['b', true, false],
  ])('begins to count anew after an answer to %s: a and others wait: %s, %s', async (tenant, isOwn, isShared) => {
    const { breaker, enter, fail } = world();
    await fail(4, 'a');
    (await enter(tenant)).answered();
    await fail(1, 'a');
    expect([breaker.isOpenFor('a'), breaker.isOpenFor('z')]).toEqual([isOwn, isShared]);
  });

  it('is over for each tenant with the first answer, where all waited', async () => {
    const { clock, breaker, enter, fail, rests } = world();
    await fail(10, 'a', 'b');
    await clock.advance(modelLimits.breakerOpenMs);
    (await enter('c')).begun();
    expect(['a', 'b', 'c'].map((tenant) => breaker.isOpenFor(tenant))).toEqual([false, false, false]);
    expect(rests).toEqual(['all true', 'a true', 'b true', 'a false', 'b false', 'all false']);
  });

  it('lets one question in at a time, and the next where the caller of the first gave up', async () => {
    const { clock, breaker, enter, fail } = world();
    await fail(5, 'a', 'b');
    const order: string[] = [];
    const asked = ['a', 'b'].map((tenant) => enter(tenant).then((turn) => (order.push(tenant), turn)));
    await clock.advance(10_000);
    expect([order, breaker.waiting]).toEqual([['a'], 2]);
    (await asked[0])?.[Symbol.dispose]();
    await clock.advance(0);
    expect([order, breaker.waiting]).toEqual([['a', 'b'], 1]);
  });

  it('makes those wait anew that had their turn before it opened, and keeps the turn of the trial', async () => {
    const { clock, enter, fail } = world();
    const before = await enter('c');
    await fail(5, 'a', 'b');
    expect(before.isValid).toBe(false);
    const trial = enter('c');
    await clock.advance(10_000);
    expect((await trial).isValid).toBe(true);
  });

  it.each([
    [9_999, true],
    [10_000, false],
    [10_001, false],
  ])(
    '§11 a trial that is not sent within ten seconds makes room for that of another tenant, %i ms: %s',
    async (ms, isValid) => {
      const { clock, enter, fail } = world();
      await fail(5, 'a', 'b');
      const [first, second] = [enter('a'), enter('b')];
      let isIn = false;
      void second.then(() => (isIn = true));
      await clock.advance(10_000);
      const trial = await first;
      await clock.advance(ms);
      expect([trial.isValid, isIn]).toEqual([isValid, !isValid]);
      trial[Symbol.dispose]();
      (await second).begun();
      expect(trial.isValid).toBe(true);
    },
  );

  it('waits longer for each failure of a trial', async () => {
    const { clock, enter, fail } = world();
    await fail(5, 'a', 'b');
    const asked = [enter('a'), enter('b')] as const;
    await clock.advance(10_000);
    using first = await asked[0];
    first.failed();
    first[Symbol.dispose]();
    let isIn = false;
    void asked[1].then(() => (isIn = true));
    await clock.advance(9_999);
    expect(isIn).toBe(false);
    await clock.advance(1);
    expect(isIn).toBe(true);
  });
});
