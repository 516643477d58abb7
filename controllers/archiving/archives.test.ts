import { expect, it } from 'vitest';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { archiveLimits } from '../../lib/archive/limits.ts';
import { createFairPool } from '../../lib/fair-pool.ts';
import { anExecution, begin } from '../../test/builders/execution-builder.ts';
import { createManualClock } from '../../test/support/manual-clock.ts';
import { silentLogger } from '../../test/support/silent-logger.ts';
import { createArchives } from './archives.ts';

const execution = anExecution('x').ended('completed', 1).build();

/** An archive that refuses each record, and how often it was asked. */
function setUp() {
  const clock = createManualClock(begin);
  const seen = { writes: 0 };
  const archives = createArchives<WorkflowExecution>({
    store: {
      problem: () => undefined,
      write: async () => {
        seen.writes += 1;
        throw new Error('too many records');
      },
    } as never,
    places: createFairPool({ size: 1, clock }),
    bytes: createFairPool({ size: 100, clock }),
    room: { took: async () => undefined },
    onUnarchived: () => undefined,
    kind: { bytesOf: () => 1, write: async () => new Uint8Array(), rowOf: (one) => one },
    wholes: { use: async (one, task) => task(one) },
    clock,
    logger: silentLogger,
    ownerOf: () => 'acme',
    onNews: () => undefined,
    signal: new AbortController().signal,
  });
  return { archives, clock, seen };
}

it.each([0, -3_600_000, 3_600_000])(
  'AMB-174 a refused record is tried again after its pause, where the time of day was set by %i ms meanwhile',
  async (stepMs) => {
    const { archives, clock, seen } = setUp();
    const pauseMs = archiveLimits.refusedAfterMs[0];
    archives.begin(execution);
    await clock.advance(0);
    clock.step(stepMs);
    expect(archives.stateOf(execution)).toEqual({
      kind: 'pending',
      problem: 'too many records',
      retryAt: clock.now() + pauseMs,
    });
    await clock.advance(pauseMs - 1);
    archives.begin(execution);
    await clock.advance(0);
    expect(seen.writes).toBe(1);
    await clock.advance(1);
    expect(archives.stateOf(execution)).toEqual({ kind: 'pending', problem: 'too many records' });
    archives.begin(execution);
    await clock.advance(0);
    expect(seen.writes).toBe(2);
  },
);

it('AMB-174 a record keeps no execution in use while it waits for room, nor while it is written', async () => {
  const clock = createManualClock(begin);
  const bytes = createFairPool({ size: 10, clock });
  const stored = Promise.withResolvers<void>();
  let [inUse, written] = [0, 0];
  const archives = createArchives<WorkflowExecution>({
    store: { problem: () => undefined, write: () => ((written += 1), stored.promise) } as never,
    places: createFairPool({ size: 1, clock }),
    bytes,
    room: { took: async () => undefined },
    onUnarchived: () => undefined,
    kind: { bytesOf: () => 8, write: async () => new Uint8Array(), rowOf: (one) => one },
    wholes: {
      async use(one, task) {
        inUse += 1;
        return await task(one).finally(() => (inUse -= 1));
      },
    },
    clock,
    logger: silentLogger,
    ownerOf: () => 'acme',
    onNews: () => undefined,
    signal: new AbortController().signal,
  });
  const full = bytes.tryEnter({ tenant: 'other', cost: 8 });
  archives.begin(execution);
  await clock.advance(0);
  expect([bytes.waiting, written, inUse]).toEqual([1, 0, 0]);
  full?.leave();
  await clock.advance(0);
  expect([bytes.used, written, inUse]).toEqual([8, 1, 0]);
  stored.resolve();
  await clock.advance(0);
  expect([bytes.used, archives.stateOf(execution)?.kind]).toEqual([0, 'archived']);
});
