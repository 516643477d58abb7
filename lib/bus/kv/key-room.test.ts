import { describe, expect, it } from 'vitest';
import { mayHold } from '../../fair-pool.ts';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { endsUntilRoom, mostOf } from './key-room.ts';
import { createMemoryBucket } from './memory-bucket.ts';

/** As many as a tenant gets that takes them one by one. */
function takenOneByOne(own: number, free: number): number {
  let taken = 0;
  while (mayHold(own + taken, free - taken)) taken += 1;
  return taken;
}

describe('the room of a tenant in a bucket', () => {
  it('STIM-36 is what it gets one by one, and ends of its own make room for more', () => {
    for (let own = 0; own < 30; own += 1) {
      for (let free = 0; free < 12; free += 1) {
        const most = takenOneByOne(own, free);
        expect(mostOf({ own, free }, 1_000)).toBe(most);
        for (let wanted = 1; wanted < 20; wanted += 1) {
          expect(mostOf({ own, free }, wanted)).toBe(Math.min(most, wanted));
          const ends = endsUntilRoom({ own, free }, wanted);
          const first = Array.from({ length: own + 1 }, (_, ended) => ended).find(
            (ended) => takenOneByOne(own - ended, free + ended) >= wanted,
          );
          expect(ends).toBe(first);
        }
      }
    }
  });

  it('AMB-182 holds for a bucket in memory too, with the time at which enough has ended', async () => {
    const clock = createManualClock();
    const bucket = createMemoryBucket<number>(clock, { name: 'b', ttlMs: 1_000, holds: 'cups' }, 10);
    for (let key = 0; key < 8; key += 1) {
      await bucket.create(`k${key}`, key, 'acme');
      await clock.advance(10);
    }
    expect(await bucket.roomFor('acme', 1)).toEqual({ used: 8, room: 0, untilRoomMs: 920, most: 8 });
    expect(await bucket.roomFor('acme', 3)).toEqual({ used: 8, room: 0, untilRoomMs: 940, most: 8 });
    expect(await bucket.roomFor('globex', 2)).toEqual({ used: 0, room: 1, untilRoomMs: undefined, most: 8 });
    const refused = bucket.create('more', 0, 'acme');
    await expect(refused).rejects.toThrow(
      /^this tenant has its share of all cups: 8; wait until the first ends at \d{4}-/,
    );
    await clock.advance(920);
    expect(await bucket.roomFor('acme', 1)).toEqual({ used: 7, room: 1, untilRoomMs: 0, most: 8 });
  });
});
