import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { FleetRun } from '../../../crds/schema/fleet-run.ts';
import type { EventBus } from '../../../lib/bus/index.ts';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { commandIdOf, createEdgeResults, type EdgeResults } from '../../../lib/edge/index.ts';
import { createFairPool } from '../../../lib/fair-pool.ts';
import { loseNewest } from '../../../test/nats/lose-newest.ts';
import { startTestBus, type TestBus } from '../../../test/nats/test-bus.ts';
import { createTurnGate } from '../../runtime/turn-gate.ts';
import { fleetRunLimits } from '../limits.ts';
import { createNewsReader } from './news-reader.ts';
import { RunView } from './run-view.ts';

let nats: TestBus;
let bus: EventBus;
let results: EdgeResults;
beforeAll(async () => {
  nats = await startTestBus();
  bus = await nats.connected();
  results = createEdgeResults({ bus, clock: systemClock });
}, 300_000);
afterAll(() => nats.stop());

interface Scene {
  readonly tenant: string;
  readonly hosts: number;
  readonly clock?: Clock;
}

/** A run that waits for the answers of hosts `n0` and so on. */
function openRun({ tenant, hosts, clock = systemClock }: Scene) {
  const uid = `run-of-${tenant}`;
  const nodes = Array.from({ length: hosts }, (_, index) => `n${index}`);
  const news = createNewsReader({ bus, clock, turns: createTurnGate() });
  const outputs = createFairPool({ size: 1_048_576, clock: systemClock });
  const view = new RunView(
    { news, clock, outputs, keepArgs: () => async (make, task) => task(await make({})), wake: () => undefined },
    {
      run: { metadata: { name: 'run', namespace: 'acme', uid }, spec: {} } as unknown as FleetRun,
      tenant,
      targets: { resolved: nodes.map((node) => ({ node_id: node, host_uid: node, name: node })), skipped: [] },
      records: [],
      isNew: true,
    },
  );
  void view.follow();
  const ids = (node: string) => ({
    tenant,
    run: uid,
    node_id: node,
    command_id: commandIdOf(uid, node),
    at: '2026-01-01T00:00:00Z',
  });
  return {
    view,
    answer: (node: string) =>
      results.publish({ ...ids(node), kind: 'result', result: { outcome: 'ok', exit_code: 0, duration_ms: 1 } }),
    hasEnded: (count: number) => vi.waitFor(() => expect(view.progress.terminal).toBe(count), { timeout: 60_000 }),
  };
}

const lose = (tenant: string, kept: number): Promise<void> =>
  loseNewest(nats.server, `WINDLASS_STREAM_edge_results_${tenant}`, kept);

describe('a fleet run whose log of results', () => {
  it('EDGE-RES-29 begins anew hears of the results that come then', { timeout: 120_000 }, async () => {
    const { view, answer, hasEnded } = openRun({ tenant: 'emptied', hosts: 40 });
    for (let host = 0; host < 30; host += 1) await answer(`n${host}`);
    await hasEnded(30);
    await lose('emptied', 0);
    for (let host = 30; host < 40; host += 1) await answer(`n${host}`);
    await hasEnded(40);
    expect(view.progress.terminal).toBe(40);
    view.close();
  });

  it('EDGE-RES-29 lost its newest hears of those that have their places now', { timeout: 120_000 }, async () => {
    const { view, answer, hasEnded } = openRun({ tenant: 'rolled', hosts: 12 });
    for (let host = 0; host < 6; host += 1) await answer(`n${host}`);
    await hasEnded(6);
    await lose('rolled', 2);
    // The last of them is behind the place that was read before.
    await Promise.all(Array.from({ length: 6 }, (_, host) => answer(`n${host + 6}`)));
    await hasEnded(12);
    expect(view.unstored.all).toHaveLength(12);
    view.close();
  });
});

it('a fleet run that waits looks once in ten seconds, and hears of a result by word', {
  timeout: 120_000,
}, async () => {
  const pauses: number[] = [];
  const clock: Clock = {
    ...systemClock,
    sleep(ms, signal) {
      pauses.push(ms);
      // The look without a word never comes.
      return systemClock.sleep(ms >= fleetRunLimits.lookAgainMs ? 3_600_000 : ms, signal);
    },
  };
  const { view, answer, hasEnded } = openRun({ tenant: 'idle', hosts: 3, clock });
  await vi.waitFor(() => expect(view.isCaughtUp).toBe(true), { timeout: 60_000 });
  for (const count of [1, 2, 3]) {
    await vi.waitFor(() => expect(pauses.at(-1)).toBe(10_000), { timeout: 60_000 });
    await answer(`n${count - 1}`);
    await hasEnded(count);
  }
  view.close();
});
