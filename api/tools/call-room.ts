import type { Clock } from '../../lib/clock.ts';
import { isTimeUp, startDeadline } from '../../lib/deadline.ts';
import { longestWaitMs, noTurnWithin } from '../../lib/fair-pool.ts';
import { onAbort } from '../../lib/on-abort.ts';
import type { ToolCaller } from '../../lib/tools/tool.ts';
import type { AnswerRoom, Taken } from '../../lib/tools/web/answer-room.ts';
import { countedBytes } from '../../lib/tools/web/counted-bytes.ts';

/** Memory for what one call of a tool reads, until that is cut to its answer. */
interface CallRoom {
  /** The part of one operation. */
  part(): RoomPart;
  /** Gives back what the call has: it holds nothing any more of what it has read. A call does so before each pause. */
  drop(): void;
}

export interface RoomPart {
  /**
   * Waits until the operation may hold so many bytes of heap, in place of what it had.
   * @throws AppError `Overloaded`, or the reason of the signal.
   */
  reserve(bytes: number): Promise<void>;
  /** The same for an operation that has reserved nothing itself. */
  reserveFor(weigh: () => number): Promise<void>;
}

/** A caller of a tool, with the memory of the call. Operations take none without. */
export interface RoomyCaller extends ToolCaller {
  readonly room: CallRoom;
}

/** Rooms for calls of tools, from the memory for large answers that tools read. */
export interface CallRooms {
  /** Ends with its scope, when the value is cut to the answer of the tool. */
  open(caller: Pick<ToolCaller, 'tenant'>, signal: AbortSignal): CallRoom & Disposable;
}

/** Bytes that each operation has, whatever the others have: small ones are always served. */
export const smallBytes = 65_536;

export function createCallRooms(clock: Clock, answers: AnswerRoom): CallRooms {
  return { open: ({ tenant }, signal) => new Room({ clock, answers, tenant, signal }) };
}

interface RoomDeps {
  readonly clock: Clock;
  readonly answers: AnswerRoom;
  readonly tenant: string;
  readonly signal: AbortSignal;
}

class Room implements CallRoom, Disposable {
  readonly #deps: RoomDeps;
  readonly #held = new Set<Taken>();
  /** Aborts when the caller has gone. A call whose time is up still reads how far it is. */
  readonly #gone = new AbortController();
  readonly #off: () => void;
  #isOver = false;

  constructor(deps: RoomDeps) {
    const { signal } = deps;
    this.#deps = deps;
    this.#off = onAbort(signal, () => {
      if (!isTimeUp(signal)) this.#gone.abort(signal.reason);
    });
  }

  part(): RoomPart {
    let taken: Taken | undefined;
    const reserve = async (bytes: number): Promise<void> => {
      this.#give(taken);
      taken = undefined;
      if (bytes > smallBytes) taken = await this.#take(Math.min(bytes, countedBytes()));
    };
    return { reserve, reserveFor: async (weigh) => (taken === undefined ? reserve(weigh()) : undefined) };
  }

  drop(): void {
    for (const taken of this.#held) this.#give(taken);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#off();
    this.drop();
  }

  async #take(cost: number): Promise<Taken> {
    const { clock, answers, tenant } = this.#deps;
    using patience = startDeadline(clock, longestWaitMs, this.#gone.signal);
    const taken = answers.of({ tenant, cost, signal: patience.signal });
    await taken.grow().catch((error: unknown) => {
      throw isTimeUp(patience.signal) ? noTurnWithin(longestWaitMs) : error;
    });
    this.#held.add(taken);
    // The call was left alone while it waited: no other code gives the room back.
    if (this.#isOver) this.#give(taken);
    return taken;
  }

  #give(taken: Taken | undefined): void {
    if (taken === undefined || !this.#held.delete(taken)) return;
    taken[Symbol.dispose]();
  }
}
