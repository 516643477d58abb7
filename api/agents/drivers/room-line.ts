import type { Clock } from '../../../lib/clock.ts';
import { createFairPool, type PoolPart } from '../../../lib/fair-pool.ts';
import type { Driven } from './driven.ts';
import { roomLimits } from './room.ts';
import { waitingForRoom } from './wait-notes.ts';

export interface RoomEntry {
  readonly tenant: string;
  readonly cost: number;
  readonly signal: AbortSignal;
}

/** The memory that conversations of a replica share: each waits for its part. */
export interface RoomLine {
  enter(driven: Pick<Driven, 'note'>, entry: RoomEntry): Promise<PoolPart>;
}

export function createRoomLine({ clock, poolBytes }: { readonly clock: Clock; readonly poolBytes?: number }): RoomLine {
  const pool = createFairPool({ size: poolBytes ?? roomLimits.poolBytes, clock });
  return {
    async enter({ note }, entry) {
      // Any replica may drive it meanwhile.
      note.drives(false);
      using _wait = note.waits(waitingForRoom);
      return await pool.enter(entry);
    },
  };
}
