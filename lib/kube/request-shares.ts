import type { Clock } from '../clock.ts';
import { createFairPool, type FairPool, type PoolPart } from '../fair-pool.ts';

/** Purpose of a request, as far as its turn depends on it. */
export interface RequestPurpose {
  /** The namespace charged; absent for requests about the cluster. */
  readonly namespace?: string | undefined;
  /**
   * Writes down what is so already: a status or a Lease. No webhook of a tenant can hold that up, and it is what makes
   * room again, so it never waits behind creates that hang.
   */
  readonly isBookkeeping?: boolean | undefined;
}

/** Turns of short requests, among namespaces. */
export interface RequestShares {
  /** Waits for a turn; rejects with the signal's reason where that aborts first. */
  enter(purpose: RequestPurpose, signal: AbortSignal): Promise<PoolPart>;
  /** Requests that may be under way at once: as many connections are needed. */
  readonly most: { readonly requests: number; readonly bookkeeping: number };
}

/** Bookkeeping requests for each ten others: one namespace can use all workers of the controllers for it. */
const bookkeepingPart = 0.6;

/** `most`: requests under way, bookkeeping left aside, of which one namespace has four fifths (`mayHold`). */
export function createRequestShares(clock: Clock, most: number): RequestShares {
  const bookkeepingMost = Math.ceil(most * bookkeepingPart);
  const work: FairPool = createFairPool({ size: most, clock });
  const bookkeeping: FairPool = createFairPool({ size: bookkeepingMost, clock });
  return {
    most: { requests: most, bookkeeping: bookkeepingMost },
    enter: ({ namespace = '', isBookkeeping = false }, signal) =>
      (isBookkeeping ? bookkeeping : work).enter({ tenant: namespace, signal }),
  };
}
