import { describe, expect, it } from 'vitest';
import { createManualClock } from '../test/support/manual-clock.ts';
import { resultWithin } from './clock.ts';

describe('the result of work within a time', () => {
  it('is that of work that ends before, and no sleep is left', async () => {
    const clock = createManualClock();
    expect(await resultWithin(clock, 1_000, Promise.resolve('done'))).toBe('done');
    expect(clock.sleepers).toBe(0);
  });

  it('is undefined when the time is over', async () => {
    const clock = createManualClock();
    const result = resultWithin(clock, 1_000, new Promise<string>(() => undefined));
    await clock.advance(999);
    expect(clock.sleepers).toBe(1);
    await clock.advance(1);
    expect(await result).toBeUndefined();
  });

  it('is the failure of work that fails before, and no sleep is left', async () => {
    const clock = createManualClock();
    await expect(resultWithin(clock, 1_000, Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(clock.sleepers).toBe(0);
  });
});
