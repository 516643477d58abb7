import { expect, it } from 'vitest';
import { AppError } from '../../lib/errors.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createChallengeLimit } from './challenge-limit.ts';

it('an attestation redeems no more than twenty times, and another one as often', async () => {
  const limit = createChallengeLimit(createManualClock());
  let done = 0;
  const once = async (): Promise<number> => (done += 1);
  for (const attestation of ['a', 'b']) {
    await Promise.all(Array.from({ length: 20 }, () => limit.redeem(attestation, once)));
    await expect(limit.redeem(attestation, once)).rejects.toMatchObject({ code: 'limit_exceeded' });
  }
  expect(done).toBe(40);
});

it('an attempt that the bus or the API server made fail is none, however often a daemon comes back', async () => {
  const limit = createChallengeLimit(createManualClock());
  const away = async (): Promise<never> => {
    throw new AppError('unavailable', 'the bus is away');
  };
  for (let attempt = 0; attempt < 100; attempt += 1)
    await expect(limit.redeem('a', away)).rejects.toMatchObject({ code: 'unavailable' });
  expect(await limit.redeem('a', async () => 'done')).toBe('done');
});

it('a flood of one address holds up the proof of no other, and takes less than all places', async () => {
  const limit = createChallengeLimit(createManualClock());
  const flood = Promise.withResolvers<void>();
  let begun = 0;
  const check = (): Promise<void> => {
    begun += 1;
    return flood.promise;
  };
  const waiting = Array.from({ length: 5_000 }, () => limit.prove('192.0.2.1', check));
  expect(begun).toBeLessThan(16);
  expect(await limit.prove('198.51.100.7', async () => 'proven')).toBe('proven');
  flood.resolve();
  await Promise.all(waiting);
  expect(begun).toBe(5_000);
});
