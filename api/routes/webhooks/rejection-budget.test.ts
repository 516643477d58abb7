import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../lib/manual-clock.ts';
import { createRejectionBudget } from './rejection-budget.ts';

const taken = (budget: () => boolean, times: number): number =>
  Array.from({ length: times }, budget).filter(Boolean).length;

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
});
