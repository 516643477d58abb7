import { createTokenBuckets, type TokenBuckets } from '../../lib/token-buckets.ts';

/** Hosts whose checkpoints this process counts; the longest unused one is forgotten first. */
const hostsMax = 20_000;
/** Checkpoints that a host may have before its pace counts, so that a daemon which starts is not held up. */
const burst = 4;

/**
 * How often new capabilities of a host are written, over all of its streams at this relay; keys are uids. One checkpoint for
 * each heartbeat interval, and four at first. A write of capabilities is a version of the object in the store, and an event for
 * each watch.
 */
export const createCheckpoints = (steadyMs: () => number, intervalMs: number): TokenBuckets =>
  createTokenBuckets({ nowMs: steadyMs, burst, intervalMs, keysMax: hostsMax });
