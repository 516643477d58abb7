import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createBreaker } from './breaker.ts';

function world() {
  const clock = { time: 0, steadyMs: (): number => clock.time };
  const breaker = createBreaker(clock);
  const fail = (times: number): void => {
    for (let count = 0; count < times; count++) breaker.enter()?.failed();
  };
  return { clock, breaker, fail };
}

describe('createBreaker', () => {
  it.each([-3_600_000, 3_600_000])('is open for 10 s, where the time of day is set by %i ms', async (ms) => {
    const clock = createManualClock();
    const breaker = createBreaker(clock);
    for (let failures = 0; failures < 5; failures++) breaker.enter()?.failed();
    clock.step(ms);
    await clock.advance(9_999);
    expect(breaker.isOpen).toBe(true);
    await clock.advance(1);
    expect(breaker.isOpen).toBe(false);
  });

  it.each([
    [4, false],
    [5, true],
    [6, true],
  ])('after %i failures in a row, being open is %s', (failures, isOpen) => {
    const { breaker, fail } = world();
    fail(failures);
    expect(breaker.isOpen).toBe(isOpen);
    expect(breaker.enter() === undefined).toBe(isOpen);
  });

  it('begins to count anew after an answer', () => {
    const { breaker, fail } = world();
    fail(4);
    breaker.enter()?.answered();
    fail(4);
    expect(breaker.isOpen).toBe(false);
  });

  it.each([
    [9_999, true],
    [10_000, false],
    [10_001, false],
  ])('after %i ms, being open is %s', (ms, isOpen) => {
    const { clock, breaker, fail } = world();
    fail(5);
    clock.time = ms;
    expect(breaker.isOpen).toBe(isOpen);
  });

  it('lets one request through, whose end decides', () => {
    const { clock, breaker, fail } = world();
    fail(5);
    clock.time = 10_000;
    const trial = breaker.enter();
    expect(breaker.enter()).toBeUndefined();
    trial?.failed();
    expect(breaker.enter()).toBeUndefined();
    clock.time = 20_000;
    breaker.enter()?.answered();
    expect(breaker.isOpen).toBe(false);
    expect(breaker.enter()).toBeDefined();
  });

  it('lets another one through where the caller of the first gave up', () => {
    const { clock, breaker, fail } = world();
    fail(5);
    clock.time = 10_000;
    breaker.enter()?.abandoned();
    expect(breaker.enter()).toBeDefined();
  });
});
