import { mayHold } from '../../fair-pool.ts';

/** Room of one tenant in a bucket. */
export interface KeyRoom {
  /** Keys that it has taken. They are counted in blocks. */
  readonly used: number;
  /** Keys of the wanted ones that it may take now. */
  readonly room: number;
  /** When all of the wanted ones fit as keys of its own end; 0: now; undefined: not by that alone. */
  readonly untilRoomMs: number | undefined;
  /** Keys that it may have where no other tenant has any. */
  readonly most: number;
}

/** Blocks, or single keys: those of one tenant, and those that are free for all. */
interface Held {
  readonly own: number;
  readonly free: number;
}

/** Pure: how many of the wanted ones a tenant may take, one after the other. */
export function mostOf({ own, free }: Held, wanted: number): number {
  let taken = 0;
  while (taken < wanted && mayHold(own + taken, free - taken)) taken += 1;
  return taken;
}

/** Pure: how many of its own have to end until all of the wanted ones fit; undefined: all of them are not enough. */
export function endsUntilRoom({ own, free }: Held, wanted: number): number | undefined {
  for (let ended = 0; ended <= own; ended += 1) {
    // Where the last one fits, so do those before it.
    const before = { own: own - ended + wanted - 1, free: free + ended - wanted + 1 };
    if (mayHold(before.own, before.free)) return ended;
  }
  return undefined;
}
