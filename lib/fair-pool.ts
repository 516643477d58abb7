import type { Clock } from './clock.ts';
import { AppError } from './errors.ts';
import { onAbort } from './on-abort.ts';

/** A request for a part of a pool, and the size of the part. */
interface PoolRequest {
  /** The tenant charged: the namespace for which the work is done. */
  readonly tenant: string;
  /**
   * Places, or bytes where the pool counts bytes. Default 1. More than the share of one tenant counts as the share: `largestEntries` of
   * `test/contract/memory-budget.test.ts` has what that adds to a pool.
   */
  readonly cost?: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal;
  /** How long this entry waits at most. Default: as the pool says. */
  readonly waitMs?: number;
}

/** A held part of the pool. Giving it back twice is giving it back once. */
export interface PoolPart extends Disposable {
  leave(): void;
  /** Gives back all but so much, where that turns out to be enough. */
  shrinkTo(cost: number): void;
  /** Takes more, until it is so much in all. False, and nothing changes, where the tenant may not hold that now. */
  growTo(cost: number): boolean;
}

interface FairPoolOptions {
  /** Places, or bytes. */
  readonly size: number;
  /** Entries that may wait, of all tenants together. Default: any number. */
  readonly waiting?: number;
  readonly clock: Clock;
  /** How long an entry waits at most. Default: `longestWaitMs`. */
  readonly waitMs?: number;
  /** How much more than what is left free one tenant may hold; with 1 it gets half. Default: `holdPerFree`. */
  readonly perFree?: number;
}

/**
 * Something that many tenants share: requests, streams, bytes. Within a tenant it is first come, first served. Between
 * tenants the next is the one that holds least. Among equals it is the one that has waited longest for its turn.
 * However slow the work of one tenant is, and however much it wants, it holds no more than its share (`mayHold`).
 */
export interface FairPool {
  /** Runs the task in its turn. Rejects as `enter` does, or as the task does. */
  run<T>(entry: PoolRequest, task: () => Promise<T>): Promise<T>;
  /**
   * Waits for the turn. Rejects with AppError `unavailable` where the tenant's part of the waiting line is taken or the
   * wait is over without a turn, and with the signal's reason where that aborts first.
   */
  enter(entry: PoolRequest): Promise<PoolPart>;
  /** A place now or none, and never before those who wait. */
  tryEnter(entry: PoolRequest): PoolPart | undefined;
  /** Held parts of one tenant. */
  heldBy(tenant: string): number;
  /** The most that one tenant can hold, where no other one holds anything: one place at least. */
  readonly share: number;
  /** Places, or bytes, of all tenants together. */
  readonly size: number;
  /** Held parts of all tenants together. */
  readonly used: number;
  /** Entries that wait. */
  readonly waiting: number;
}

/**
 * How much more than what is left free one tenant may hold. A tenant alone gets four fifths, two get four ninths each,
 * and so on. Something is left for the next tenant, and no number of tenants has to be known before. One tenant gets 16
 * of 20 workers (ADR 0030).
 */
const holdPerFree = 4;

/**
 * How long those who want more than is free keep the others waiting, where what is held may be held for ever. Later half of what comes
 * back is saved for the first of them.
 */
export const bigWaitMs = 5_000;

/**
 * How long an entry waits where its pool says nothing else: twice the longest request. A caller that still waits then
 * waits for work that does not end, and does better to ask again than to keep what it holds meanwhile.
 */
export const longestWaitMs = 60_000;

/**
 * Whether a tenant that holds `held`, beside which `free` are free, may take `cost` more. One that holds nothing may have all that is
 * left: a cost has to be a share at most.
 */
export function mayHold(held: number, free: number, cost = 1, perFree = holdPerFree): boolean {
  if (cost > free) return false;
  return held === 0 || held + cost <= perFree * (free - cost);
}

export function createFairPool(options: FairPoolOptions): FairPool {
  return new SharedPool(options);
}

interface Waiter {
  readonly cost: number;
  /** Until when it keeps the others waiting. */
  readonly until: number;
  readonly admit: (place: PoolPart) => void;
}

/** The parts that one tenant holds and waits for. */
interface Holding {
  readonly tenant: string;
  readonly line: Set<Waiter>;
  held: number;
}

class SharedPool implements FairPool {
  readonly #size: number;
  readonly #waitingMax: number;
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #perFree: number;
  /** Tenants that hold something or wait, in the order of their turns. */
  readonly #holdings = new Map<string, Holding>();
  #used = 0;
  #waiting = 0;
  /** The first that wants more than is free, and how much of what is free is saved for it. */
  #savedFor: Waiter | undefined;
  #saved = 0;

  constructor(options: FairPoolOptions) {
    const { size, waiting = Number.POSITIVE_INFINITY, clock, waitMs = longestWaitMs, perFree = holdPerFree } = options;
    this.#size = size;
    this.#waitingMax = waiting;
    this.#clock = clock;
    this.#waitMs = waitMs;
    this.#perFree = perFree;
  }

  get size(): number {
    return this.#size;
  }

  get used(): number {
    return this.#used;
  }

  get share(): number {
    return Math.max(1, Math.floor((this.#size * this.#perFree) / (this.#perFree + 1)));
  }

  heldBy(tenant: string): number {
    return this.#holdings.get(tenant)?.held ?? 0;
  }

  get waiting(): number {
    return this.#waiting;
  }

  async run<T>(entry: PoolRequest, task: () => Promise<T>): Promise<T> {
    using _place = this.tryEnter(entry) ?? (await this.enter(entry));
    return await task();
  }

  tryEnter({ tenant, cost = 1 }: PoolRequest): PoolPart | undefined {
    const holding = this.#holdingOf(tenant);
    const wanted = Math.min(cost, this.share);
    const isFirst = holding.line.size === 0 && !this.#isAwaitedByTheBig();
    if (isFirst && mayHold(holding.held, this.#freeFor(undefined), wanted, this.#perFree))
      return this.#hand(holding, wanted);
    this.#forgetIdle(holding);
    return undefined;
  }

  enter(entry: PoolRequest): Promise<PoolPart> {
    const { tenant, cost = 1, signal, waitMs = this.#waitMs } = entry;
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const place = this.tryEnter(entry);
      if (place !== undefined) return resolve(place);
      const holding = this.#holdingOf(tenant);
      if (!mayHold(holding.line.size, this.#waitingMax - this.#waiting)) {
        this.#forgetIdle(holding);
        return reject(lineIsFull());
      }
      const patience = new AbortController();
      const end = (): void => {
        // A reason spares the making of an error with its stack.
        patience.abort('over');
        off?.();
      };
      const giveUp = (reason: unknown): void => {
        end();
        this.#drop(holding, waiter);
        reject(reason);
      };
      const admit = (admitted: PoolPart): void => {
        end();
        resolve(admitted);
      };
      const waiter = { cost: Math.min(cost, this.share), until: this.#clock.steadyMs() + bigWaitMs, admit };
      void this.#limit(waiter, waitMs, giveUp, patience.signal);
      const off = signal === undefined ? undefined : onAbort(signal, () => giveUp(signal.reason));
      holding.line.add(waiter);
      this.#waiting += 1;
    });
  }

  /** Serves the others once a waiter that wants more than is free has had its time, and ends its wait in the end. */
  async #limit(waiter: Waiter, waitMs: number, giveUp: (reason: unknown) => void, signal: AbortSignal): Promise<void> {
    const first = Math.min(bigWaitMs, waitMs);
    await this.#clock.sleep(first, signal);
    if (signal.aborted) return;
    if (waiter.cost > 1) this.#serve();
    await this.#clock.sleep(waitMs - first, signal);
    if (!signal.aborted) giveUp(noTurnWithin(waitMs));
  }

  #hand(holding: Holding, cost: number): PoolPart {
    holding.held += cost;
    this.#used += cost;
    let held = cost;
    const shrinkTo = (rest: number): void => {
      if (rest >= held) return;
      holding.held -= held - rest;
      this.#used -= held - rest;
      this.#saveHalf(held - rest);
      held = rest;
      this.#forgetIdle(holding);
      this.#serve();
    };
    const leave = (): void => shrinkTo(0);
    // A place that was given back stays so: another one has it, or the tenant holds nothing.
    const growTo = (wanted: number): boolean => {
      const more = Math.min(wanted, this.#size) - held;
      if (more <= 0) return true;
      if (held === 0 || !this.#mayGrow(holding, more)) return false;
      holding.held += more;
      this.#used += more;
      held += more;
      return true;
    };
    return { leave, shrinkTo, growTo, [Symbol.dispose]: leave };
  }

  /** Work that has begun comes before what its tenant waits for: nothing else gives places back. */
  #mayGrow(holding: Holding, more: number): boolean {
    return !this.#isAwaitedByTheBig() && mayHold(holding.held, this.#freeFor(undefined), more, this.#perFree);
  }

  /** So much that one may take: a part that is saved for another one is not free. */
  #freeFor(waiter: Waiter | undefined): number {
    const free = this.#size - this.#used;
    return this.#savedFor === undefined || this.#savedFor === waiter ? free : free - this.#saved;
  }

  /**
   * Half of what comes back is saved for the first tenant that holds nothing and wants more than is free. So it has its turn when
   * twice its part has come back, and the others continue meanwhile.
   */
  #saveHalf(returned: number): void {
    this.#savedFor ??= this.#firstBig();
    if (this.#savedFor !== undefined) this.#saved = Math.min(this.#savedFor.cost, this.#saved + returned / 2);
  }

  /** Places are given one by one: none wants more than comes back. */
  #firstBig(): Waiter | undefined {
    const free = this.#size - this.#used;
    for (const { held, line } of this.#holdings.values()) {
      const [waiter] = line;
      if (held === 0 && waiter !== undefined && waiter.cost > 1 && waiter.cost > free) return waiter;
    }
    return undefined;
  }

  #endWait(waiter: Waiter): void {
    this.#waiting -= 1;
    if (this.#savedFor !== waiter) return;
    this.#savedFor = undefined;
    this.#saved = 0;
  }

  #drop(holding: Holding, waiter: Waiter): void {
    if (!holding.line.delete(waiter)) return;
    this.#endWait(waiter);
    this.#forgetIdle(holding);
    // It may have been what the others waited for.
    this.#serve();
  }

  #serve(): void {
    for (let holding = this.#next(); holding !== undefined; holding = this.#next()) {
      const [waiter] = holding.line;
      if (waiter === undefined) return;
      holding.line.delete(waiter);
      this.#endWait(waiter);
      // Its next turn comes after everybody else's.
      this.#holdings.delete(holding.tenant);
      this.#holdings.set(holding.tenant, holding);
      waiter.admit(this.#hand(holding, waiter.cost));
    }
  }

  /** The tenant whose turn is next; undefined where none that waits may begin. */
  #next(): Holding | undefined {
    if (this.#waiting === 0 || this.#isAwaitedByTheBig()) return undefined;
    let least: Holding | undefined;
    for (const holding of this.#holdings.values()) {
      const [waiter] = holding.line;
      const isLess = least === undefined || holding.held < least.held;
      if (waiter !== undefined && isLess && mayHold(holding.held, this.#freeFor(waiter), waiter.cost, this.#perFree))
        least = holding;
    }
    return least;
  }

  /** A tenant that holds nothing waits for more than is free: the small ones would pass it for ever. */
  #isAwaitedByTheBig(): boolean {
    if (this.#waiting === 0) return false;
    const free = this.#size - this.#used;
    const now = this.#clock.steadyMs();
    for (const { held, line } of this.#holdings.values()) {
      const [waiter] = line;
      if (held === 0 && waiter !== undefined && waiter.cost > free && now < waiter.until) return true;
    }
    return false;
  }

  #holdingOf(tenant: string): Holding {
    const known = this.#holdings.get(tenant);
    if (known !== undefined) return known;
    const holding = { tenant, line: new Set<Waiter>(), held: 0 };
    this.#holdings.set(tenant, holding);
    return holding;
  }

  #forgetIdle(holding: Holding): void {
    if (holding.held === 0 && holding.line.size === 0) this.#holdings.delete(holding.tenant);
  }
}

const overloaded = (message: string): AppError => new AppError('unavailable', message, { reason: 'Overloaded' });

/** The tenant has its part of a line already. */
export const lineIsFull = (): AppError => overloaded('too much is under way for this tenant already');

/** The wait for a turn is over. */
export const noTurnWithin = (waitMs: number): AppError =>
  overloaded(`no turn came within ${waitMs / 1_000} s; try again`);
