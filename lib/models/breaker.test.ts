import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createBreaker } from './breaker.ts';
import { modelLimits } from './limits.ts';

const { breakerOpenMs } = modelLimits;

function world(isAwaited = false) {
  const clock = createManualClock();
  const rests: string[] = [];
  const onRest = (isResting: boolean, tenant = 'all') => rests.push(`${tenant} ${isResting}`);
  const breaker = createBreaker(clock, { onRest, isAwaited: () => isAwaited });
  const fail = (times: number, ...tenants: string[]): void => {
    const turns = Array.from({ length: times }, (_, count) => breaker.begin(tenants[count % tenants.length] ?? ''));
    for (const turn of turns) turn.failed();
  };
  return { clock, breaker, fail, rests };
}

describe('createBreaker', () => {
  it.each([-3_600_000, 3_600_000])('shuts for 10 s, where the time of day is set by %i ms', async (ms) => {
    const { clock, breaker, fail } = world();
    fail(5, 'a');
    clock.step(ms);
    await clock.advance(9_999);
    expect([breaker.isShutFor('a'), breaker.changesAt]).toEqual([true, clock.steadyMs() + 1]);
    await clock.advance(1);
    expect([breaker.isShutFor('a'), breaker.changesAt]).toEqual([false, Number.POSITIVE_INFINITY]);
  });

  it.each([
    [4, ['a'], false, false],
    [5, ['a'], true, false],
    [6, ['a'], true, false],
    [4, ['a', 'b'], false, false],
    [5, ['a', 'b'], true, true],
    [5, ['a', 'a', 'a', 'a', 'b'], false, false],
    [5, ['a', 'b', 'c', 'd', 'e'], true, true],
  ] as const)('after %i failures in a row of %j, a and others wait: %s, %s', (times, tenants, isOwn, isShared) => {
    const { breaker, fail } = world();
    fail(times, ...tenants);
    expect([breaker.isOpenFor('a'), breaker.isOpenFor('z'), breaker.isShut]).toEqual([isOwn, isShared, isShared]);
  });

  it.each([
    ['a', false, false],
    ['b', true, false],
  ])('begins to count anew after an answer to %s: a and others wait: %s, %s', (tenant, isOwn, isShared) => {
    const { breaker, fail } = world();
    fail(4, 'a');
    breaker.begin(tenant).answered();
    fail(1, 'a');
    expect([breaker.isOpenFor('a'), breaker.isOpenFor('z')]).toEqual([isOwn, isShared]);
  });

  it('is over for each tenant with the first answer, where all waited', async () => {
    const { clock, breaker, fail, rests } = world();
    fail(10, 'a', 'b');
    await clock.advance(breakerOpenMs);
    breaker.begin('c').begun();
    expect(['a', 'b', 'c'].map((tenant) => breaker.isOpenFor(tenant))).toEqual([false, false, false]);
    expect(rests).toEqual(['all true', 'a true', 'b true', 'a false', 'b false', 'all false']);
  });

  it.each([
    ['the caller of the first gave up', 0, true],
    ['the first is not answered', 9_999, false],
    ['the first is not answered', 10_000, false],
  ])('§11 lets one question in at a time, and the next where %s, after %i ms', async (_, ms, isLeft) => {
    const { clock, breaker, fail } = world();
    fail(5, 'a', 'b');
    await clock.advance(breakerOpenMs);
    expect(breaker.isShut).toBe(false);
    const trial = breaker.begin('a');
    expect(breaker.isShut).toBe(true);
    await clock.advance(ms);
    if (isLeft) trial[Symbol.dispose]();
    expect(breaker.isShut).toBe(!isLeft && ms < breakerOpenMs);
    // The trial before has its end, and the next one is under way all the same.
    breaker.begin('b');
    trial[Symbol.dispose]();
    expect(breaker.isShut).toBe(true);
    trial.begun();
    expect(breaker.isOpenFor('a')).toBe(false);
  });

  it('shuts for longer with each failure of a trial', async () => {
    const { clock, breaker, fail } = world();
    fail(5, 'a', 'b');
    await clock.advance(breakerOpenMs);
    const trial = breaker.begin('a');
    await clock.advance(5_000);
    trial.failed();
    trial[Symbol.dispose]();
    await clock.advance(9_999);
    expect(breaker.isShut).toBe(true);
    await clock.advance(1);
    expect(breaker.isShut).toBe(false);
  });

  it.each([true, false])(
    'forgets failures of ten minutes ago, unless a question of the tenant waits: %s',
    async (is) => {
      const { clock, breaker, fail } = world(is);
      fail(5, 'a');
      await clock.advance(600_000);
      fail(1, 'b');
      expect(breaker.isOpenFor('a')).toBe(is);
    },
  );
});
