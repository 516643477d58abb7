import { expect, it } from 'vitest';
import { AppError } from '../lib/errors.ts';
import { createManualClock } from '../test/support/manual-clock.ts';
import { gapMs, retryWhileLate, throughGaps } from './late-bus.ts';

const late = new AppError('unavailable', 'the event bus did not answer in time');

it.each([
  [4, undefined, late, 'answer'],
  [5, undefined, late, late],
  [1, 'the connection is away', late, late],
  [1, undefined, new AppError('conflict', 'another writer'), 'conflict'],
])(
  'after %i failures of a bus whose problem is %s there is one more attempt or none',
  async (failures, problem, error, want) => {
    let asked = 0;
    const outcome = await retryWhileLate({ problem: () => problem }, async () => {
      asked += 1;
      if (asked <= failures) throw error;
      return 'answer';
    }).catch((thrown: AppError) => (thrown === late ? late : thrown.code));
    expect(outcome).toBe(want);
  },
);

it('a bus that is lost in an attempt of a minute is waited for as long', async () => {
  const clock = createManualClock();
  let isAway = false;
  const bus = { problem: () => (isAway ? 'the connection was lost' : undefined) };
  let attempts = 0;
  const outcome = throughGaps({ clock, bus }, async () => {
    attempts += 1;
    if (attempts > 1) return isAway ? Promise.reject(late) : 'answer';
    await clock.sleep(6 * gapMs);
    isAway = true;
    throw late;
  }).catch((error: unknown) => error);
  await clock.advance(6 * gapMs);
  isAway = false;
  await clock.advance(gapMs);
  expect(await outcome).toBe('answer');
});

it.each([
  [gapMs - 1_000, 'answer'],
  [gapMs + 1_000, late],
])('a bus that is back after %i ms has its message, or its caller the error', async (awayMs, want) => {
  const clock = createManualClock();
  const back = clock.now() + awayMs;
  const isAway = (): boolean => clock.now() < back;
  const bus = { problem: () => (isAway() ? 'the connection was lost' : undefined) };
  const outcome = throughGaps({ clock, bus }, async () => {
    if (isAway()) throw late;
    return 'answer';
  }).catch((error: unknown) => error);
  await clock.advance(2 * gapMs);
  expect(await outcome).toBe(want);
});

it.each([-3_600_000, 3_600_000])('ADR 0136 a gap lasts as long where the time of day steps by %i ms', async (step) => {
  const clock = createManualClock();
  let outcome: unknown;
  void throughGaps({ clock, bus: { problem: () => 'the connection was lost' } }, async () => {
    throw late;
  }).catch((error: unknown) => (outcome = error));
  await clock.advance(gapMs / 2);
  clock.step(step);
  await clock.advance(gapMs / 4);
  expect(outcome).toBeUndefined();
  await clock.advance(gapMs);
  expect(outcome).toBe(late);
});
