import { limits } from '../../../crds/limits.ts';
import type { Clock } from '../../clock.ts';
import { isTimeUp } from '../../deadline.ts';
import { AppError } from '../../errors.ts';
import { createFairPool, type FairPool, type PoolPart } from '../../fair-pool.ts';
import { bytesOf } from '../../memory-budget/index.ts';
import { mediumBytes } from './read-response.ts';

/** Memory of one process for the answers that it reads, with shares for tenants. Small ones need none. */
export interface AnswerRoom {
  /** Room for one answer of `cost` bytes of memory at most, which is taken when the answer turns out to be large. */
  of(answer: Answer): Taken;
}

interface Answer {
  readonly tenant: string;
  readonly cost: number;
  /** Bytes of memory for each byte of the body. Default: as `memoryOf` has it. */
  readonly perByte?: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Given back at the end of its scope: when the answer is read, parsed and cut. */
export interface Taken extends Disposable {
  /**
   * Takes room for so many bytes as they come, before they are held; the sender waits meanwhile. A body of up to 32 KiB needs none.
   * Beyond a mebibyte it is that of a body of so many bytes, once; without a number, that of the largest answer.
   * @throws AppError `Overloaded`, also where the time of the signal is up, or the reason of the signal.
   */
  readonly grow: (bytes?: number) => Promise<void>;
  /** From now on it holds so many bytes of memory, without a wait. False where there is no room for that. */
  keep(cost: number): boolean;
}

/** An answer is held as bytes, as text and as what is made of it. */
export const memoryOf = (bytes: number): number => 3 * bytes;

/**
 * Part of the memory for large answers that the bytes of one answer may have. Text and values of it are in the heap at once, and one
 * character beyond Latin-1 makes V8 keep two bytes for each: four times its bytes, most of which the share of a tenant covers.
 */
export const largestAnswerPart = 0.3;

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

/** Bytes of a body that are held without room. */
const freeBytes = 32 * 1_024;

/** The part of a room for bodies of up to a mebibyte, as they come. The rest has room for two of the largest answers in the gateway. */
const beginningsPart = 1 / 8;

/** Bytes of a room of `size` bytes for answers that are counted as a whole. */
export const wholeBytes = (size: number): number => size - Math.floor(size * beginningsPart);

export function createAnswerRoom(options: RoomOptions): AnswerRoom {
  const size = wholeBytes(options.size);
  return answerRoomOf({
    beginnings: createFairPool({ ...options, size: options.size - size }),
    whole: createFairPool({ ...options, size }),
  });
}

interface Pools {
  /** For bodies of up to a mebibyte, as they come. */
  readonly beginnings: FairPool;
  readonly whole: FairPool;
}

export const answerRoomOf = (pools: Pools): AnswerRoom => ({ of: (answer) => new HeldAnswer(pools, answer) });

/**
 * An answer that begins holds what it has got. It waits for the room of the largest answer, and none that has this waits for
 * the place of a beginning: so both waits have an end (ADR 0171).
 */
class HeldAnswer implements Taken {
  readonly #pools: Pools;
  readonly #answer: Answer;
  #begun: PoolPart | undefined;
  #place: PoolPart | undefined;

  constructor(pools: Pools, answer: Answer) {
    this.#pools = pools;
    this.#answer = answer;
  }

  readonly grow = async (bytes: number = Number.POSITIVE_INFINITY): Promise<void> => {
    if (bytes <= freeBytes || this.#place !== undefined) return;
    try {
      if (bytes <= mediumBytes && (await this.#begin(bytes))) return;
      const { cost, perByte = memoryOf(1) } = this.#answer;
      // How long a body is that finds no room to begin is not known.
      const wanted = bytes <= mediumBytes ? cost : Math.min(cost, perByte * bytes);
      this.#place = await this.#pools.whole.enter({ ...this.#answer, cost: wanted });
    } catch (error) {
      // The sender of the answer is not late.
      throw isTimeUp(this.#answer.signal) ? noRoomInTime() : error;
    }
    this.#endBeginning();
  };

  keep(cost: number): boolean {
    const place = this.#place ?? this.#begun;
    place?.shrinkTo(cost);
    return place?.growTo(cost) ?? true;
  }

  [Symbol.dispose](): void {
    this.#endBeginning();
    this.#place?.leave();
  }

  /** False where there is no room to go on: the room of the largest answer has an end of its own. */
  async #begin(bytes: number): Promise<boolean> {
    if (this.#begun !== undefined) return this.#begun.growTo(bytes);
    this.#begun = await this.#pools.beginnings.enter({ ...this.#answer, cost: bytes });
    return true;
  }

  #endBeginning(): void {
    this.#begun?.leave();
    this.#begun = undefined;
  }
}

const noRoomInTime = (): AppError =>
  new AppError('unavailable', 'other answers took the memory for answers until the time was up; try again', {
    reason: 'Overloaded',
  });
