import { createFairPool } from '../../lib/fair-pool.ts';
import { watchPools } from '../../lib/process/pool-gauges.ts';
import type { Services } from '../runtime/module.ts';
import { createArgumentPool } from './commands/run-arguments.ts';
import { createHeapBudget } from './heap-budget.ts';
import { fleetRunLimits } from './limits.ts';
import { HeapRoom } from './view/heap-room.ts';

export type FleetPools = ReturnType<typeof createFleetPools>;

/** Pools that all runs share, with a gauge of each. */
export function createFleetPools({
  clock,
  metrics,
}: Pick<Services, 'clock'> & { readonly metrics: Pick<Services['metrics'], 'registry'> }) {
  const poolOf = (size: number) => createFairPool({ size, clock, perFree: 1, waitMs: fleetRunLimits.longestWaitMs });
  const rooms = new HeapRoom(clock);
  const heapBudget = createHeapBudget(clock);
  const onTheWay = createArgumentPool(clock);
  const outputs = createFairPool({ size: fleetRunLimits.outputBytes, clock });
  const launches = poolOf(fleetRunLimits.launches);
  const cancels = poolOf(fleetRunLimits.cancels);
  const bytes = {
    ...rooms.pools,
    'records of fleet runs in turn': heapBudget.pool,
    'output of fleet runs': outputs,
    'arguments on their way': onTheWay,
  };
  watchPools(metrics.registry, { bytes, places: { 'commands of fleet runs': launches, cancellations: cancels } });
  return { rooms, heapBudget, onTheWay, outputs, launches, cancels };
}
