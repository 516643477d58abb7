import { expect, it } from 'vitest';
import { createManualClock } from '../test/support/manual-clock.ts';
import { createBell } from './bell.ts';

const { signal } = new AbortController();

it('wakes its waiter by a ring during the wait, and before it', async () => {
  const bell = createBell(createManualClock());
  let woken = 0;
  const waits = bell.wait(1_000, signal).then(() => (woken += 1));
  bell.ring();
  await waits;
  bell.ring();
  await bell.wait(1_000, signal).then(() => (woken += 1));
  expect(woken).toBe(2);
});

it('takes several rings as one, and wakes by itself when the time is over', async () => {
  const clock = createManualClock();
  const bell = createBell(clock);
  bell.ring();
  bell.ring();
  await bell.wait(1_000, signal);
  let isAwake = false;
  const waits = bell.wait(1_000, signal).then(() => (isAwake = true));
  await clock.advance(999);
  expect(isAwake).toBe(false);
  await clock.advance(1);
  await waits;
});
