import type { Clock } from '../../../lib/clock.ts';
import { createFairPool, type FairPool, type PoolPart } from '../../../lib/fair-pool.ts';
import { createLoopTurns } from '../../../lib/loop-turns.ts';
import { bytesOf } from '../../../lib/memory-budget/index.ts';
import { fleetRunLimits } from '../limits.ts';

/** A run that wants room, and what it wants. */
interface RoomRequest {
  readonly uid: string;
  readonly tenant: string;
  /** Bytes of heap. */
  readonly bytes: number;
  /** Its commands are only to be ended: it may pass the line. */
  readonly isEnding?: boolean;
  /** Called when there is news of a run that waits. */
  readonly wake: () => void;
}

/** The room of a run, in one of the pools. */
interface Held {
  readonly pool: FairPool;
  readonly part: PoolPart;
}

/** A run that waits in line, and in that of the runs that end as soon as it is one of those. */
interface Wait {
  readonly stop: AbortController;
  isEnding: boolean;
}

/**
 * Room in memory for the views of runs, which tenants share (ADR 0164). A run that finds none waits in line, and keeps what it gets
 * until it leaves. Those that are cancelled or deleted have some room of their own: they need it for seconds.
 */
export class HeapRoom {
  readonly #pool: FairPool;
  readonly #ending: FairPool;
  readonly #held = new Map<string, Held>();
  readonly #waiting = new Map<string, Wait>();

  constructor(
    clock: Clock,
    size: number = bytesOf('fleet runs under way'),
    endingSize: number = bytesOf('fleet runs that end'),
  ) {
    const rules = { clock, perFree: 1, waitMs: fleetRunLimits.longestWaitMs };
    this.#pool = createFairPool({ ...rules, size });
    this.#ending = createFairPool({ ...rules, size: endingSize });
  }

  /** For metrics, by the names of the memory budget. */
  get pools() {
    return { 'fleet runs under way': this.#pool, 'fleet runs that end': this.#ending };
  }

  /** Whether the run has its room. Where not, it waits in line, and is woken. */
  take(request: RoomRequest): boolean {
    const { uid } = request;
    const waiting = this.#waiting.get(uid);
    if (waiting !== undefined) return this.#passLine(request, waiting);
    const held = this.#held.get(uid);
    if (held !== undefined && isResized(held, request)) return true;
    // Its hosts are more than they were when it began to wait.
    held?.part.leave();
    this.#held.delete(uid);
    if (this.#tryEnter(this.#pool, request)) return true;
    const wait = { stop: new AbortController(), isEnding: false };
    this.#waiting.set(uid, wait);
    void this.#waitIn(this.#pool, request, wait);
    return this.#passLine(request, wait);
  }

  /** A run that ends takes the room that is there for such runs, or waits for it beside its place in the line. */
  #passLine(request: RoomRequest, wait: Wait): boolean {
    if (request.isEnding !== true || wait.isEnding) return false;
    if (this.#tryEnter(this.#ending, request)) {
      this.#endWait(request.uid, wait);
      return true;
    }
    wait.isEnding = true;
    void this.#waitIn(this.#ending, request, wait);
    return false;
  }

  #tryEnter(pool: FairPool, request: RoomRequest): boolean {
    const part = pool.tryEnter({ tenant: request.tenant, cost: costIn(pool, request) });
    if (part !== undefined) this.#held.set(request.uid, { pool, part });
    return part !== undefined;
  }

  #endWait(uid: string, { stop }: Wait): void {
    this.#waiting.delete(uid);
    stop.abort('over');
  }

  /** Something that is the same for as long as the run has this room; undefined where it has none. */
  of(uid: string): object | undefined {
    return this.#held.get(uid);
  }

  isWaiting(uid: string): boolean {
    return this.#waiting.has(uid);
  }

  /** Bytes that the runs of a tenant have. */
  heldBy(tenant: string): number {
    return this.#pool.heldBy(tenant) + this.#ending.heldBy(tenant);
  }

  /** The run needs nothing more. */
  leave(uid: string): void {
    const waiting = this.#waiting.get(uid);
    if (waiting !== undefined) this.#endWait(uid, waiting);
    const held = this.#held.get(uid);
    this.#held.delete(uid);
    held?.part.leave();
  }

  /** No run has room, or waits for some, from now on. The room comes back in turns of the event loop. */
  async leaveAll(): Promise<void> {
    const [waiting, held] = [[...this.#waiting.values()], [...this.#held.values()]];
    this.#waiting.clear();
    this.#held.clear();
    const spend = createLoopTurns(leavesPerTurn);
    // None that waits gets what another one gives back.
    for (const { stop } of waiting) {
      stop.abort('over');
      await spend(1);
    }
    for (const { part } of held) {
      part.leave();
      await spend(1);
    }
  }

  /** Never rejects. One whose wait is over is woken as well, and begins to wait anew. The first of two lines that has room counts. */
  async #waitIn(pool: FairPool, request: RoomRequest, wait: Wait): Promise<void> {
    const { uid, tenant, wake } = request;
    const { signal } = wait.stop;
    const part = await pool.enter({ tenant, cost: costIn(pool, request), signal }).catch(() => undefined);
    // Given in the moment in which the run left, or had room elsewhere.
    if (signal.aborted) return part?.leave();
    this.#endWait(uid, wait);
    if (part !== undefined) this.#held.set(uid, { pool, part });
    wake();
  }
}

/** Runs that leave in one turn of the event loop. */
const leavesPerTurn = 100;

/** False where there is no room for what the run needs now. */
function isResized({ pool, part }: Held, request: RoomRequest): boolean {
  const cost = costIn(pool, request);
  if (!part.growTo(cost)) return false;
  part.shrinkTo(cost);
  return true;
}

/** No run counts as more than a share: another tenant has room beside it. */
const costIn = ({ share }: FairPool, { bytes }: RoomRequest): number => Math.min(bytes, share);
