import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createManualClock } from '../test/support/manual-clock.ts';
import { lookUntil } from './look-until.ts';

const hour = 3_600_000;

// The function is given to contexts that are made after the flag is set.
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

it('holds nothing of a look over the pause that follows', async () => {
  const clock = createManualClock();
  const seen: WeakRef<object>[] = [];
  const look = async (): Promise<object> => {
    const value = { look: seen.length };
    seen.push(new WeakRef(value));
    return value;
  };
  const end = lookUntil({ clock, ms: 200, everyMs: 100 }, look, () => false);
  await clock.advance(1);
  await new Promise((resolve) => setImmediate(resolve));
  collect();
  expect(seen.map((one) => one.deref())).toEqual([undefined]);
  await clock.advance(99);
  await clock.advance(100);
  expect(await end).toEqual({ value: { look: 2 }, isWanted: false });
});

describe('ADR 0136 a look until something is as it is wanted', () => {
  it.each([0, -hour, hour])('lasts as long as it may, where the time of day steps by %i ms', async (step) => {
    const clock = createManualClock();
    const { signal } = new AbortController();
    let looks = 0;
    const look = async (): Promise<number> => (looks += 1);
    const end = lookUntil({ clock, signal, ms: 1_000, everyMs: 100 }, look, () => false);
    await clock.advance(100);
    clock.step(step);
    for (let ms = 100; ms < 1_000; ms += 100) await clock.advance(100);
    await clock.advance(100);
    expect([looks, await end]).toEqual([11, { value: 11, isWanted: false }]);
  });
});
