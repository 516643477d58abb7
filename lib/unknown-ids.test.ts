import { describe, expect, it } from 'vitest';
import { createManualClock } from '../test/support/manual-clock.ts';
import { createUnknownIds } from './unknown-ids.ts';

describe('ids that the server does not know', () => {
  it.each([0, -3_600_000, 3_600_000])('are remembered for their time, the time of day set by %i ms', async (stepMs) => {
    const clock = createManualClock();
    const unknown = createUnknownIds(clock, { capacity: 10, lifeMs: 1_000 });
    unknown.add('a');
    clock.step(stepMs);
    await clock.advance(999);
    expect([unknown.has('a'), unknown.has('b')]).toEqual([true, false]);
    await clock.advance(1);
    expect(unknown.has('a')).toBe(false);
  });

  it('are forgotten from the oldest on when there are too many', () => {
    const unknown = createUnknownIds({ steadyMs: () => 0 }, { capacity: 2, lifeMs: 1 });
    for (const id of ['a', 'b', 'a', 'c']) unknown.add(id);
    expect(['a', 'b', 'c'].map((id) => unknown.has(id))).toEqual([true, false, true]);
  });
});
