import { getHeapStatistics } from 'node:v8';
import { type MemoryName, memoryTable } from './table.ts';

/**
 * Largest heap that shares are taken of. A larger one leaves more free and makes no pool larger. So the pools of a
 * process without a memory limit have a bound as well. More load wants more replicas.
 */
export const largestHeapBytes = 1_073_741_824;

/** Sizes are whole KiB. */
const unit = 1_024;

/**
 * Size in bytes of a pool of the table, in this process. It is the pool's share of the heap that V8 may take, which the
 * chart sets to three quarters of the pod's memory limit.
 */
export function bytesOf(name: MemoryName, heapBytes: number = getHeapStatistics().heap_size_limit): number {
  const bytes = Math.min(heapBytes, largestHeapBytes) * memoryTable[name].share;
  return Math.floor(bytes / unit) * unit;
}
