import { beforeEach, expect, it, vi } from 'vitest';
import type { FleetRunStatus } from '../../crds/schema/fleet-run.ts';
import { AppError } from '../../lib/errors.ts';
import { createFairPool } from '../../lib/fair-pool.ts';
import { KubeError } from '../../lib/kube/index.ts';
import { createConfigMapStore } from '../../lib/output-store/config-map-store.ts';
import { FleetServer } from '../../test/support/fleet-controller.ts';
import { createManualClock, type ManualClock } from '../../test/support/manual-clock.ts';
import { createHeapBudget } from './heap-budget.ts';
import { fleetRunLimits } from './limits.ts';
import type { NewsReader } from './view/news-reader.ts';
import { RunView } from './view/run-view.ts';
import { waitForLog } from './wait-for-log.ts';

const full = new AppError('unavailable', 'no room for a log', { reason: 'BucketFull' });
const away = new AppError('unavailable', 'NATS is away', { reason: 'EventBusUnavailable' });
const begun: FleetRunStatus = {
  phase: 'Running',
  started_at: '2026-01-01T00:00:00Z',
  targets_resolved: 2,
  in_flight: 2,
  summary: { ok: 0, err: 0, timed_out: 0, cancelled: 0, not_started: 0 },
};

let clock: ManualClock;
let server: FleetServer;
/** The problem that each look for the log meets. */
let problem: AppError;
let view: RunView;

beforeEach(() => {
  clock = createManualClock();
  problem = full;
  server = new FleetServer({ policy: { per_target_deadline_secs: 1 } });
  server.run = { ...server.run, status: begun };
  const news: NewsReader = {
    listen: () => ({ [Symbol.asyncDispose]: async () => undefined }),
    has: async () => true,
    read: () => {
      throw problem;
    },
  };
  const outputs = createFairPool({ size: 1_024, clock });
  view = new RunView(
    { news, clock, outputs, keepArgs: () => async (make, task) => task(await make({})), wake: () => undefined },
    {
      run: server.run,
      tenant: 'acme',
      targets: { resolved: ['a', 'b'].map((node) => ({ node_id: node, host_uid: node, name: node })), skipped: [] },
      records: [],
      isNew: false,
    },
  );
  void view.follow();
  return () => view.close();
});

/** One look at the run. */
function look() {
  const kube = server.kube as never;
  const events = { record: () => undefined, flush: async () => undefined };
  const ends = { events, facts: { raise: () => undefined }, runs: { remember: () => undefined } };
  const deps = {
    kube,
    clock,
    ...ends,
    views: { close: () => undefined },
    store: createConfigMapStore(kube),
    heapBudget: createHeapBudget(clock),
  };
  return waitForLog(deps, server.run, view);
}

it('EDGE-RES-26 a fleet run without a log ends as was decided first, also where its record is refused meanwhile', async () => {
  server.change({ spec: { cancel: { by: 'ada' } } });
  await clock.advance(fleetRunLimits.unreachableMs + 1_000);
  const create = vi.spyOn(server.kube, 'create');
  create.mockRejectedValueOnce(new KubeError(403, { reason: 'Forbidden' }, { verb: 'create', resource: 'x' }));
  expect(await look()).toMatchObject({ reason: expect.any(String) });
  expect(server.status).toMatchObject({ phase: 'Running', cancellation: { cancelled: 0, already_terminal: 2 } });
  problem = away;
  await clock.advance(fleetRunLimits.fullAgainMs);
  await look();
  expect(server.status).toMatchObject({ phase: 'Ended', outcome: 'halted', reason: 'BucketFull', summary: { err: 2 } });
  expect(create).toHaveBeenCalledTimes(2);
});

it('EDGE-RES-26 a fleet run counts no time as full in which NATS is away', async () => {
  await clock.advance(fleetRunLimits.awayMs / 2);
  await look();
  expect(server.status).toMatchObject({ phase: 'Running', reason: 'BucketFull' });
  problem = away;
  await clock.advance(600_000);
  expect(view.fullSince).toBeUndefined();
  await look();
  expect(server.status.phase).toBe('Running');
  problem = full;
  await clock.advance(fleetRunLimits.awayMs + 1);
  await look();
  expect(server.status.phase).toBe('Running');
  await clock.advance(fleetRunLimits.unreachableMs);
  await look();
  expect(server.status).toMatchObject({ phase: 'Ended', outcome: 'halted', reason: 'BucketFull' });
});
