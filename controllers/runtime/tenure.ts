import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';

/** This process may not write: its lease has run out or is another's. */
export class LostLeadership extends AppError {
  override readonly name = 'LostLeadership';

  constructor() {
    super('lost_leadership', 'this process does not hold the lease', { reason: 'LostLeadership' });
  }
}

/** Both clocks, in milliseconds, from before the request was sent that won the lease or renewed it last. */
export interface Renewal {
  readonly steadyAt: number;
  readonly wallAt: number;
}

/** Where who renews the lease writes, and who asks whether it leads reads. */
export interface Tenure {
  /** Undefined while the lease is not held. */
  read(): Renewal | undefined;
  write(renewal: Renewal | undefined): void;
}

export function createTenure(): Tenure {
  let last: Renewal | undefined;
  return {
    read: () => last,
    write(renewal) {
      last = renewal;
    },
  };
}

/** Memory for a tenure that one thread writes and another one reads. */
export const tenureMemory = (): SharedArrayBuffer => new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT);

const microsecondsPerMs = 1_000;
/** In a cell that says nothing, as in unwritten memory. */
const none = 0n;

/**
 * A tenure in shared memory. The two cells are not written at once, and need not be. Both times only increase, and the
 * fence takes the older of them. So a reader between two writes sees the lease as older than it is, or not held.
 */
export function sharedTenure(memory: SharedArrayBuffer): Tenure {
  const cells = new BigInt64Array(memory);
  return {
    read() {
      const [steady, wall] = [Atomics.load(cells, 0), Atomics.load(cells, 1)];
      if (steady === none || wall === none) return undefined;
      return { steadyAt: Number(steady) / microsecondsPerMs, wallAt: Number(wall) };
    },
    write(renewal) {
      Atomics.store(cells, 0, renewal === undefined ? none : BigInt(Math.floor(renewal.steadyAt * microsecondsPerMs)));
      Atomics.store(cells, 1, renewal === undefined ? none : BigInt(Math.floor(renewal.wallAt)));
    },
  };
}

interface FenceOptions {
  readonly tenure: Tenure;
  readonly clock: Pick<Clock, 'now' | 'steadyMs'>;
  /** A leader that could not renew for this long stops writing. */
  readonly renewMs: number;
}

export interface Fence {
  /** True while this process holds the lease and has time left. Decided anew by each call, with no request. */
  isLeaderNow(): boolean;
  /** Throws LostLeadership unless `isLeaderNow()`: the guard for `withFence`. */
  assertLeader(): void;
}

/** Both clocks must agree that time is left: the steady one does not step, the wall clock counts a sleep. */
export function createFence({ tenure, clock, renewMs }: FenceOptions): Fence {
  const isLeaderNow = (): boolean => {
    const renewal = tenure.read();
    if (renewal === undefined) return false;
    return Math.max(clock.steadyMs() - renewal.steadyAt, clock.now() - renewal.wallAt) < renewMs;
  };
  return {
    isLeaderNow,
    assertLeader() {
      if (!isLeaderNow()) throw new LostLeadership();
    },
  };
}

/** How long a lease lasts, in milliseconds (ADR 0014). */
export interface LeaseTiming {
  /** Others take over after this long without a renewal that they saw. */
  readonly leaseMs: number;
  /** A leader that could not renew for this long stops writing. Must be clearly below `leaseMs`. */
  readonly renewMs: number;
  /** Between attempts to take or renew. */
  readonly retryMs: number;
}

/**
 * Beyond this difference to the API server's clock no replica leads: deadlines would pass at the wrong time (issue
 * 10, D5).
 */
export const skewMostMs = 5_000;

export const leaseTiming: LeaseTiming = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 };
