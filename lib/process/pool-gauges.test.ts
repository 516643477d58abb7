import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { createFairPool } from '../fair-pool.ts';
import { watchPools } from './pool-gauges.ts';

it('says what is held of each pool, how large it is, and how many wait', async () => {
  const clock = createManualClock();
  const registry = new Registry();
  const messages = createFairPool({ size: 100, clock });
  const sent = createFairPool({ size: 1, clock });
  watchPools(registry, { bytes: { messages }, places: { sent } });
  using _one = messages.tryEnter({ tenant: 'acme', cost: 80 });
  using _two = sent.tryEnter({ tenant: 'acme' });
  const waits = Promise.allSettled([messages.enter({ tenant: 'umbra', cost: 30 }), sent.enter({ tenant: 'umbra' })]);
  const text = await registry.metrics();
  const values = [...text.matchAll(/^windlass_pool_(\w+)\{pool="(\w+)"\} (\d+)$/gm)].map(([, ...parts]) =>
    parts.join(' '),
  );
  expect(values.toSorted()).toEqual([
    'size_bytes messages 100',
    'size_places sent 1',
    'used_bytes messages 80',
    'used_places sent 1',
    'waiting messages 1',
    'waiting sent 1',
  ]);
  await clock.advance(60_000);
  await waits;
});
