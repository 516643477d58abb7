import { describe, expect, it } from 'vitest';
import { AppError } from '../../../lib/errors.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { silentLogger } from '../../../test/support/silent-logger.ts';
import { patiently } from './patiently.ts';

const hour = 3_600_000;
const away = new AppError('unavailable', 'the event bus is away');

describe('ADR 0136 the last tries of a replica that is about to end', () => {
  it.each([0, -hour, hour])('last five seconds, where the time of day steps by %i ms', async (step) => {
    const clock = createManualClock();
    const [ending, never] = [new AbortController(), new AbortController()];
    const reason = new Error('the replica ends');
    let ended: unknown;
    const deps = { clock, logger: silentLogger, signal: never.signal, giveUp: ending.signal };
    void patiently(deps, async () => Promise.reject(away)).catch((error: unknown) => (ended = error));
    await clock.advance(100);
    ending.abort(reason);
    await clock.advance(200);
    clock.step(step);
    await clock.advance(4_000);
    expect(ended).toBeUndefined();
    for (let ms = 0; ms < 4_000; ms += 500) await clock.advance(500);
    expect(ended).toBe(reason);
  });
});
