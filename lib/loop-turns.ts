import { setImmediate } from 'node:timers/promises';

/** Counts work that was done; resolves in a later turn of the event loop where one turn has had enough. */
export type LoopTurns = (work: number) => Promise<void>;

/** Spreads long work over turns of the event loop, so that other requests are served in between. */
export function createLoopTurns(workPerTurn: number): LoopTurns {
  let left = workPerTurn;
  return async (work) => {
    left -= work;
    if (left > 0) return;
    left = workPerTurn;
    await setImmediate();
  };
}
