import { expect, it } from 'vitest';
import { outcomeOf } from './outcome-of.ts';

it.each([
  ['below zero', -1n, 0, 0],
  ['of the longest that may be but one second', 315_575_999_999n, 0, 315_575_999_999_000],
  ['of the longest that may be', 315_576_000_000n, 0, 315_576_000_000_000],
  ['of one millisecond more', 315_576_000_000n, 1_000_000, 315_576_000_000_000],
  ['of all 63 bits', 2n ** 63n - 1n, 999_999_999, 315_576_000_000_000],
])('a duration %s is a number that every client reads', async (_, seconds, nanos, want) => {
  const duration = { seconds, nanos };
  const none = async () => ({ problem: 'no payload' });
  const ok = { $case: 'ok', value: { exitCode: 0, duration, payload: undefined } } as const;
  expect(await outcomeOf(ok, none)).toMatchObject({ duration_ms: want });
  const timedOut = { $case: 'timedOut', value: { deadline: duration } } as const;
  expect(await outcomeOf(timedOut, none)).toMatchObject({ deadline_ms: want });
});
