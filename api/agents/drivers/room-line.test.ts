import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { AppError } from '../../../lib/errors.ts';
import { createDriverLooks, type DriverLooks } from './driver-address.ts';
import { createRoomLine } from './room-line.ts';

const note = { waits: () => new DisposableStack(), drives: () => undefined, [Symbol.dispose]: () => undefined };
const large = { note, uid: 'large' };
const never = new AbortController().signal;

async function fullLine(look: DriverLooks['look'], clock = createManualClock()) {
  const line = createRoomLine({ clock, poolBytes: 1_000, looks: { look } });
  const held = await line.enter({ note, uid: 'held' }, { tenant: 'acme', cost: 900, signal: never });
  return { clock, held, entering: line.enter(large, { tenant: 'acme', cost: 900, signal: never }) };
}

describe('a conversation that waits for room', () => {
  it('keeps its place in the line for as long as it takes', async () => {
    const { clock, held, entering } = await fullLine(async () => 'unserved');
    await clock.advance(24 * 3_600_000);
    held.leave();
    (await entering).leave();
    expect(clock.sleepers).toBe(0);
  });

  it('leaves the line where another replica drives it by then', async () => {
    const { clock, entering } = await fullLine(async () => 'drives');
    const [ended] = await Promise.all([entering.catch((error: unknown) => error), clock.advance(2 * 60_000)]);
    expect(ended).toMatchObject({ reason: 'Stopped' });
  });

  it('keeps its place while the bus is away, also where its turn comes meanwhile', async () => {
    let found: Awaited<ReturnType<DriverLooks['look']>> = 'unknown';
    const { clock, held, entering } = await fullLine(async () => found);
    await clock.advance(10 * 60_000);
    held.leave();
    let isIn = false;
    const entered = entering.then((place) => ((isIn = true), place));
    await clock.advance(10 * 60_000);
    expect(isIn).toBe(false);
    found = 'unserved';
    await clock.advance(5_000);
    (await entered).leave();
    expect(clock.sleepers).toBe(0);
  });

  it('has its turn, with a verdict, beside a driver that is silent', async () => {
    const silent = () => Promise.reject(new AppError('timeout', 'silent', { reason: 'RequestTimeout' }));
    const clock = createManualClock();
    const { look } = createDriverLooks({ bus: { request: silent }, clock });
    const { held, entering } = await fullLine(look, clock);
    await clock.advance(10 * 60_000);
    held.leave();
    await clock.advance(15_000);
    (await entering).leave();
    expect(await look('large')).toBe('left');
  });
});
