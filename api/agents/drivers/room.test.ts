import { describe, expect, it } from 'vitest';
import { conversationLimits } from '../../../lib/conversation/limits.ts';
import { createFairPool } from '../../../lib/fair-pool.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { Room, roomLimits } from './room.ts';

const poolOf = (size: number) => createFairPool({ size, clock: createManualClock() });

async function enter(pool: ReturnType<typeof poolOf>, cost: number): Promise<Room> {
  return new Room(await pool.enter({ tenant: 'acme', cost }), cost);
}

const { unreadBytes, largestBytes } = roomLimits;

describe('the room of a conversation', () => {
  it('is no more than a small conversation holds, once it is read', async () => {
    const pool = poolOf(roomLimits.poolBytes);
    const room = await enter(pool, unreadBytes);
    room.settle(1_000);
    expect(pool.used).toBeLessThan(unreadBytes / 4);
    expect(room.fits(1_000)).toBe(true);
  });

  it('grows with the text, and is never less than it', async () => {
    const pool = poolOf(roomLimits.poolBytes);
    const room = await enter(pool, unreadBytes);
    room.settle(0);
    for (let bytes = 1_000; bytes <= conversationLimits.heldBytes; bytes *= 2) {
      expect(room.fits(bytes)).toBe(true);
      expect(pool.used).toBeGreaterThan(bytes);
    }
  });

  it('is refused what the tenant may not hold, and keeps what it has', async () => {
    const pool = poolOf(1024 * 1024);
    const room = await enter(pool, unreadBytes);
    expect(room.fits(512 * 1024)).toBe(false);
    expect(pool.used).toBe(unreadBytes);
  });

  it('has room for any text where it is the largest', async () => {
    const pool = poolOf(2 * largestBytes);
    const room = await enter(pool, largestBytes);
    expect(room.textBytes).toBe(Number.POSITIVE_INFINITY);
    expect(room.fits(2 * conversationLimits.heldBytes)).toBe(true);
    expect(pool.used).toBe(largestBytes);
  });
});
