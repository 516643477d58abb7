import type { StoredPart } from '../../crds/schema/fleet-run.ts';
import type { Clock } from '../../lib/clock.ts';
import { createFairPool, type FairPool } from '../../lib/fair-pool.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { fleetRunLimits } from './limits.ts';

/**
 * Reads parts of the records of a tenant's runs in its turn: those that are in memory at one time stay within a budget. The signal ends
 * the wait for the turn.
 */
export type HeapBudget = <R>(
  tenant: string,
  parts: readonly Pick<StoredPart, 'bytes'>[],
  task: () => Promise<R>,
  signal?: AbortSignal,
) => Promise<R>;

/** A part is in the heap as text, and as the values that are parsed of it; either takes two bytes for a wide character. */
const copies = 3;

/** Bytes of heap that a part of so many bytes takes while it is read. */
export const partHeapBytes = (bytes: number): number => copies * bytes;

/** With the pool of those bytes, for metrics. */
export function createHeapBudget(
  clock: Clock,
  size: number = bytesOf('records of fleet runs in turn'),
): HeapBudget & { readonly pool: FairPool } {
  // However long those before it take: a reading that gave up would begin anew.
  const pool = createFairPool({ size, clock, waitMs: fleetRunLimits.longestWaitMs });
  const budget: HeapBudget = (tenant, parts, task, signal) => {
    const cost = parts.reduce((sum, { bytes }) => sum + partHeapBytes(bytes), 0);
    return pool.run({ tenant, cost, signal }, task);
  };
  return Object.assign(budget, { pool });
}
