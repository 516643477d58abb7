import type { Clock } from '../../clock.ts';
import { createFairPool } from '../../fair-pool.ts';
import { type AnswerRoom, answerRoomOf } from './answer-room.ts';

/** Memory of one gateway for what upstreams answer, and for what calls keep of it. */
export interface UpstreamRoom extends AnswerRoom {
  /** The part of one call. */
  keptBy(tenant: string): KeptPart;
}

/** The memory that one call keeps between its steps. */
export interface KeptPart extends Disposable {
  /** From now on it is so many bytes in all, without a wait. False, and nothing changes, where there is no room for that. */
  hold(bytes: number): boolean;
}

/**
 * Parts of the room. A body of more than a mebibyte waits for its place with no more than its beginning, and calls keep what is
 * there at once or nothing. So no call waits for memory that others hold for as long as their upstreams please (ADR 0183).
 */
export const upstreamParts = {
  /** Bodies of up to a mebibyte, as they come. */
  beginnings: 0.125,
  /** Larger bodies, and results until they are answered: two of the largest, of two tenants. */
  bodies: 0.35,
  /** Memory that calls keep between their steps. */
  kept: 0.175,
  /** Values of the one response that is read at a time. No pool counts them. */
  read: 0.35,
} as const;

interface RoomOptions {
  readonly clock: Clock;
  /** Bytes of memory of all parts. */
  readonly size: number;
}

export function createUpstreamRoom({ clock, size }: RoomOptions): UpstreamRoom {
  const of = (part: number, perFree?: number) =>
    createFairPool({ clock, size: Math.floor(part * size), ...(perFree !== undefined && { perFree }) });
  // One tenant has half, so that another one has room for the largest.
  const kept = of(upstreamParts.kept, 1);
  return {
    ...answerRoomOf({ beginnings: of(upstreamParts.beginnings), whole: of(upstreamParts.bodies, 1) }),
    keptBy(tenant) {
      let place: ReturnType<typeof kept.tryEnter>;
      let held = 0;
      const hold = (bytes: number): boolean => {
        if (bytes > kept.share) return false;
        if (held === 0 && bytes > 0) place = kept.tryEnter({ tenant, cost: bytes });
        else if (place?.growTo(bytes) === false) return false;
        if (bytes > 0 && place === undefined) return false;
        place?.shrinkTo(bytes);
        held = bytes;
        return true;
      };
      return { hold, [Symbol.dispose]: () => place?.leave() };
    },
  };
}
