import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createLastingRefusals, refusalsApartMs } from './lasting-refusals.ts';

describe('a refusal lasts', () => {
  it.each([
    [refusalsApartMs - 1, false],
    [refusalsApartMs, true],
    [refusalsApartMs + 1, true],
  ])('where another one came %i ms before: %s', async (ms, want) => {
    const clock = createManualClock();
    const refusals = createLastingRefusals(clock);
    expect(refusals.isLasting('a')).toBe(false);
    await clock.advance(ms);
    expect([refusals.isLasting('a'), refusals.isLasting('b')]).toEqual([want, false]);
  });

  it('not where something was allowed in between', async () => {
    const clock = createManualClock();
    const refusals = createLastingRefusals(clock);
    refusals.isLasting('a');
    refusals.forget('a');
    await clock.advance(refusalsApartMs);
    expect(refusals.isLasting('a')).toBe(false);
  });

  it('not for ever in memory: the thousand newest keys are remembered', async () => {
    const clock = createManualClock();
    const refusals = createLastingRefusals(clock);
    for (let key = 0; key <= 1_000; key += 1) refusals.isLasting(String(key));
    await clock.advance(refusalsApartMs);
    expect(['1', '1000', '0'].map((key) => refusals.isLasting(key))).toEqual([true, true, false]);
  });

  it.each([
    [599_999, true],
    [600_000, false],
    [600_001, false],
  ])('where the last one was %i ms ago: %s', async (ms, want) => {
    const clock = createManualClock();
    const refusals = createLastingRefusals(clock);
    refusals.isLasting('a');
    for (const _ of [1, 2]) {
      await clock.advance(599_999);
      expect(refusals.isLasting('a')).toBe(true);
    }
    await clock.advance(ms);
    expect(refusals.isLasting('a')).toBe(want);
  });
});
