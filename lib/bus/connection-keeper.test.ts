import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createConnectionKeeper } from './connection-keeper.ts';

describe('a call while the bus cannot be reached', () => {
  it.each([0, -3_600_000, 3_600_000])('waits for half a second, where the time of day is set by %i ms', async (ms) => {
    const clock = createManualClock();
    const open = () => Promise.reject(new Error('refused'));
    const deps = { open, clock, logger: silentLogger, random: () => 0.5, onConnected: () => undefined };
    const keeper = createConnectionKeeper(deps);
    const refusals: unknown[] = [];
    const use = () => void keeper.use().catch(({ reason }: { reason: string }) => refusals.push(reason));
    await clock.advance(100);
    clock.step(ms);
    use();
    await clock.advance(399);
    expect(refusals).toEqual([]);
    await clock.advance(1);
    expect(refusals).toEqual(['EventBusUnavailable']);
    use();
    await clock.advance(0);
    expect(refusals).toHaveLength(2);
    await keeper.close();
  });
});
