import type { Clock } from '../../../lib/clock.ts';
import { createFairPool, type PoolPart } from '../../../lib/fair-pool.ts';
import { Stopped } from '../conversation/log.ts';
import type { Driven } from './driven.ts';
import type { DriverLooks } from './driver-address.ts';
import { roomLimits } from './room.ts';
import { waitingForRoom } from './wait-notes.ts';

export interface RoomEntry {
  readonly tenant: string;
  readonly cost: number;
  readonly signal: AbortSignal;
}

/** The memory that conversations of a replica share: each waits for its part. */
export interface RoomLine {
  /**
   * Waits for as long as the execution has: a conversation that left the line and came back would be behind all others each time.
   * @throws Stopped where another replica drives the conversation meanwhile, and the reason of the signal.
   */
  enter(driven: Pick<Driven, 'note' | 'uid'>, entry: RoomEntry): Promise<PoolPart>;
}

interface RoomLineDeps {
  readonly clock: Clock;
  readonly poolBytes?: number;
  readonly looks: DriverLooks;
}

/** Longer than any execution. */
const waitMs = 8 * 24 * 3_600_000;
/** How often a replica looks whether another one drives a conversation that waits here. */
const lookMs = 60_000;
/** The same for one that has its place, until that is known: so soon that a silent driver is known by three looks. */
const againMs = 5_000;

export function createRoomLine({ clock, poolBytes, looks }: RoomLineDeps): RoomLine {
  const pool = createFairPool({ size: poolBytes ?? roomLimits.poolBytes, clock, waitMs });
  const watch = async (uid: string, over: AbortSignal, leave: AbortController): Promise<void> => {
    while (!over.aborted) {
      await clock.sleep(lookMs, over);
      if (!over.aborted && (await looks.look(uid)) === 'drives') leave.abort(new Stopped());
    }
  };
  /** A conversation that left its place for want of a verdict would wait anew. Without the bus no other one has use for the place. */
  const driverKnown = async (uid: string, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted && (await looks.look(uid)) === 'unknown') await clock.sleep(againMs, signal);
  };
  return {
    async enter({ note, uid }, { signal, ...entry }) {
      const place = signal.aborted ? undefined : pool.tryEnter(entry);
      // Any replica may drive it meanwhile.
      note.drives(false);
      if (place !== undefined) return place;
      using _wait = note.waits(waitingForRoom);
      const over = new AbortController();
      const leave = new AbortController();
      void watch(uid, over.signal, leave);
      const entering = pool.enter({ ...entry, signal: AbortSignal.any([signal, leave.signal]) });
      const entered = await entering.finally(() => over.abort('over'));
      await driverKnown(uid, signal);
      return entered;
    },
  };
}
