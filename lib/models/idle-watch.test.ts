import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { startIdleWatch } from './idle-watch.ts';

function world() {
  const clock = createManualClock();
  const fired: number[] = [];
  const begin = clock.now();
  const watch = startIdleWatch(clock, 60_000, () => fired.push(clock.now() - begin));
  return { clock, fired, watch };
}

describe('startIdleWatch', () => {
  it.each([
    [59_999, []],
    [60_000, [60_000]],
    [60_001, [60_000]],
    [600_000, [60_000]],
  ])('after %i ms of silence has fired at %j', async (ms, wanted) => {
    const { clock, fired } = world();
    await clock.advance(ms);
    expect(fired).toEqual(wanted);
  });

  it.each([-3_600_000, 3_600_000])('fires in time, the time of day set by %i ms', async (stepMs) => {
    const clock = createManualClock();
    let fired = 0;
    startIdleWatch(clock, 60_000, () => (fired += 1));
    clock.step(stepMs);
    await clock.advance(59_999);
    expect(fired).toBe(0);
    await clock.advance(1);
    expect(fired).toBe(1);
  });

  it('begins anew with each sign of life', async () => {
    const { clock, fired, watch } = world();
    for (let count = 0; count < 5; count++) {
      await clock.advance(59_999);
      watch.touch();
    }
    expect(fired).toEqual([]);
    await clock.advance(60_000);
    expect(fired).toEqual([5 * 59_999 + 60_000]);
  });

  it('is silent, and holds no timer, once it is disposed of', async () => {
    const { clock, fired, watch } = world();
    watch[Symbol.dispose]();
    await clock.advance(600_000);
    expect(fired).toEqual([]);
    expect(clock.sleepers).toBe(0);
  });
});
