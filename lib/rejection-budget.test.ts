import { describe, expect, it } from 'vitest';
import { createManualClock } from '../test/support/manual-clock.ts';
import { createRejectionBudget, type RejectionBudget } from './rejection-budget.ts';

const taken = (budget: RejectionBudget, times: number, source = 'ci'): number =>
  Array.from({ length: times }, () => budget(source)).filter(({ mayTell }) => mayTell).length;

describe('the events about senders that could not prove themselves', () => {
  it('are a hundred at most at once, and ten a second from then on', async () => {
    const clock = createManualClock();
    const budget = createRejectionBudget(clock);
    expect(taken(budget, 150)).toBe(100);
    await clock.advance(99);
    expect(taken(budget, 5)).toBe(0);
    await clock.advance(1);
    expect(taken(budget, 5)).toBe(1);
    await clock.advance(1_000);
    expect(taken(budget, 50)).toBe(10);
  });

  it('are never more than a hundred at once, however long it was quiet', async () => {
    const clock = createManualClock();
    const budget = createRejectionBudget(clock);
    await clock.advance(3_600_000);
    expect(taken(budget, 500)).toBe(100);
  });

  it('AMB-181 are bounded for each source, and the next one says how many were left out', async () => {
    const clock = createManualClock();
    const budget = createRejectionBudget(clock);
    expect([taken(budget, 150), taken(budget, 150, 'forge')]).toEqual([100, 100]);
    await clock.advance(100);
    expect(budget('ci')).toEqual({ mayTell: true, leftOut: 50 });
    expect(budget('forge')).toEqual({ mayTell: true, leftOut: 50 });
    await clock.advance(100);
    expect(budget('ci')).toEqual({ mayTell: true, leftOut: 0 });
  });
});
