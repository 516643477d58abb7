import { describe, expect, it } from 'vitest';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import type { DriverLooks } from './driver-address.ts';
import { createRoomLine } from './room-line.ts';

const note = { waits: () => new DisposableStack(), drives: () => undefined, [Symbol.dispose]: () => undefined };
const large = { note, uid: 'large' };
const never = new AbortController().signal;

async function fullLine(look: Awaited<ReturnType<DriverLooks['look']>>) {
  const clock = createManualClock();
  const line = createRoomLine({ clock, poolBytes: 1_000, looks: { look: async () => look } });
  const held = await line.enter({ note, uid: 'held' }, { tenant: 'acme', cost: 900, signal: never });
  return { clock, held, entering: line.enter(large, { tenant: 'acme', cost: 900, signal: never }) };
}

describe('a conversation that waits for room', () => {
  it('keeps its place in the line for as long as it takes', async () => {
    const { clock, held, entering } = await fullLine('unserved');
    await clock.advance(24 * 3_600_000);
    held.leave();
    (await entering).leave();
    expect(clock.sleepers).toBe(0);
  });

  it('leaves the line where another replica drives it by then', async () => {
    const { clock, entering } = await fullLine('drives');
    const [ended] = await Promise.all([entering.catch((error: unknown) => error), clock.advance(2 * 60_000)]);
    expect(ended).toMatchObject({ reason: 'Stopped' });
  });
});
