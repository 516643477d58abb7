import { limits } from '../../../crds/limits.ts';
import type { Clock } from '../../clock.ts';
import { createFairPool, type PoolPart } from '../../fair-pool.ts';
import { bytesOf } from '../../memory-budget/index.ts';

/** Memory of one process for the large answers that it reads, with shares for tenants. Small ones need none. */
export interface AnswerRoom {
  /** Room for one answer of `cost` bytes of memory, which is taken when the answer turns out to be large. */
  of(answer: Answer): Taken;
}

interface Answer {
  readonly tenant: string;
  readonly cost: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Given back at the end of its scope: when the answer is read, parsed and cut. */
export interface Taken extends Disposable {
  /**
   * Takes the room once, however often it is called; the sender waits meanwhile.
   * @throws AppError `Overloaded`, or the reason of the signal.
   */
  readonly grow: () => Promise<void>;
  /**
   * Takes so many bytes of memory in all, whether it has some or none, for the values that are made next.
   * @throws AppError `Overloaded`, or the reason of the signal; then it has none.
   */
  hold(cost: number): Promise<void>;
  /** Gives back all but so many bytes of memory, where it has more. */
  keep(cost: number): void;
}

/** An answer is held as bytes, as text and as what is made of it. */
export const memoryOf = (bytes: number): number => 3 * bytes;

interface RoomOptions {
  readonly clock: Clock;
  /** Bytes of memory for all tenants. */
  readonly size: number;
  /** Longest wait. Default: that of `createFairPool`. */
  readonly waitMs?: number;
}

/**
 * Room for the large pages and answers that tools read, one for a process. A wait has no end but that of its signal, and
 * of the longest call.
 */
export const createLargeAnswers = (clock: Clock): AnswerRoom =>
  createAnswerRoom({ clock, size: bytesOf('large answers'), waitMs: longestCallMs });

/** A little longer than the gateway gives a call. */
export const longestCallMs = limits.toolCallSeconds * 1_000 + 10_000;

export function createAnswerRoom(options: RoomOptions): AnswerRoom {
  const pool = createFairPool(options);
  return {
    of(answer) {
      let place: PoolPart | undefined;
      return {
        async grow() {
          place ??= await pool.enter(answer);
        },
        async hold(cost) {
          if (place?.growTo(Math.min(cost, pool.share)) === true) return;
          // It waits with nothing: two that wait for each other would have no end.
          place?.leave();
          place = undefined;
          place = await pool.enter({ ...answer, cost });
        },
        keep: (cost) => place?.shrinkTo(cost),
        [Symbol.dispose]: () => place?.leave(),
      };
    },
  };
}
