import type { Clock } from '../../clock.ts';
import { createFairPool, type Place } from '../../fair-pool.ts';

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

export function createAnswerRoom(options: RoomOptions): AnswerRoom {
  const pool = createFairPool(options);
  return {
    of(answer) {
      let place: Place | undefined;
      return {
        async grow() {
          place ??= await pool.enter(answer);
        },
        [Symbol.dispose]: () => place?.leave(),
      };
    },
  };
}
