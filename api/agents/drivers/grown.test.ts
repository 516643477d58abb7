import { describe, expect, it } from 'vitest';
import { heldBytes } from '../../../lib/conversation/held-bytes.ts';
import { emptyState } from '../../../lib/conversation/state.ts';
import { createFairPool } from '../../../lib/fair-pool.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import type { ConversationLog } from '../conversation/log.ts';
import { Grown, holders } from './grown.ts';
import { Room, wantedFor } from './room.ts';

/** The holders of a conversation with 100,000 bytes of text, in a full pool that gives it room for so many bytes, and a quarter more. */
async function holding(textBytes: number, beside = { listBytes: 0, callBytes: 0 }) {
  const cost = wantedFor(textBytes);
  const pool = createFairPool({ size: cost + 1, clock: createManualClock() });
  const state = { ...emptyState(), bytes: 100_000 };
  const room = new Room(await pool.enter({ tenant: 'acme', cost }), cost);
  return { state, beside, ...holders(beside, { state } as ConversationLog, room) };
}

const grownTo = (work: () => void): number | undefined => {
  try {
    work();
    return undefined;
  } catch (error) {
    return error instanceof Grown ? error.textBytes : Number.NaN;
  }
};

describe('a list of tools and the arguments of a call', () => {
  it.each(['list first', 'arguments first'])('need room for both at once: %s', async (order) => {
    const { holdList, holdCall, beside } = await holding(400_000);
    const acts = [() => holdList(300_000), () => holdCall(300_000)];
    const [first, second] = order === 'list first' ? acts : acts.toReversed();
    expect(first && grownTo(first)).toBeUndefined();
    expect(second && grownTo(second)).toBe(700_000);
    // The place for so much has room for both, one after the other.
    const again = await holding(700_000, beside);
    expect(grownTo(() => again.holdList(300_000))).toBeUndefined();
    expect(grownTo(() => again.holdCall(300_000))).toBeUndefined();
  });

  it('need room for arguments that had none before the conversation was opened anew', async () => {
    const { holdList } = await holding(400_000, { listBytes: 0, callBytes: 300_000 });
    expect(grownTo(() => holdList(300_000))).toBe(700_000);
  });

  it('count to what the conversation holds between its steps, the list also once it is opened anew', async () => {
    const { state, holdList, beside } = await holding(700_000);
    holdList(300_000);
    expect(heldBytes(state)).toBe(400_000);
    expect(heldBytes((await holding(700_000, beside)).state)).toBe(400_000);
    holdList(100_000);
    expect(heldBytes(state)).toBe(200_000);
  });

  it('count arguments once that the state has as well', async () => {
    const { holdList, holdCall, state } = await holding(250_000);
    holdCall(100_000);
    expect(state.callBytes).toBe(100_000);
    expect(grownTo(() => holdList(100_000))).toBeUndefined();
    holdCall(0);
    expect(grownTo(() => holdList(200_000))).toBeUndefined();
  });
});
