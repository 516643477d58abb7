import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { memoryRows } from '../../lib/memory-budget/index.ts';
import { partHeapBytes } from './heap-budget.ts';
import { createFleetPools } from './pools.ts';

it('has a gauge of each pool of the memory budget that fleet runs share', async () => {
  const registry = new Registry();
  const { heapBudget } = createFleetPools({ clock: systemClock, metrics: { registry } });
  const text = await heapBudget('acme', [{ bytes: 1_000 }], () => registry.metrics());
  const budgeted = memoryRows.filter(({ name, pools }) => pools.controllers === 1 && /fleet runs|way/.test(name));
  expect(budgeted).toHaveLength(5);
  for (const { name } of budgeted) expect(text).toContain(`windlass_pool_size_bytes{pool="${name}"}`);
  const held = partHeapBytes(1_000);
  expect(text).toContain(`windlass_pool_used_bytes{pool="records of fleet runs in turn"} ${held}\n`);
});
