import { expect, it } from 'vitest';
import { AppError } from '../../lib/errors.ts';
import { createHolders, lostAfterMs, scanMs } from './holders.ts';

it('a holder that is silent is lost in time, though the clock of the machine was put back by an hour', async () => {
  const silent = () => Promise.reject(new AppError('unavailable', 'silent', { reason: 'RequestTimeout' }));
  let [now, steadyMs] = [10 * 3_600_000, 0];
  const clock = { now: () => now, steadyMs: () => steadyMs };
  const holders = createHolders({ bus: { request: silent, serve: () => expect.unreachable() }, clock });
  expect(await holders.isLost('h')).toBe(false);
  now -= 3_600_000;
  const found: boolean[] = [];
  for (; steadyMs < lostAfterMs; ) {
    now += scanMs;
    steadyMs += scanMs;
    found.push(await holders.isLost('h'));
  }
  expect(found).toEqual([...found.slice(1).map(() => false), true]);
});
