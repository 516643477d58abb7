import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { edgeHostName } from '../../../crds/schema/edge-host.ts';
import { edgeHosts } from '../harness/kinds.ts';
import { pause } from '../harness/wait.ts';
import {
  busiestRelay,
  deleteRelay,
  type EdgeWorld,
  hostsByRelay,
  isThere,
  openEdgeWorld,
  relaysAreReady,
  type InvokedRun,
} from './harness/edge-world.ts';
import { connectedHost, marksOf, type RealHost } from './harness/real-host.ts';

const hostCount = 4;
const runCount = 10;

let world: EdgeWorld;
const hosts: (RealHost & AsyncDisposable)[] = [];

beforeAll(async () => {
  world = await openEdgeWorld('edge-failover');
  await relaysAreReady(world.kube);
  for (let index = 0; index < hostCount; index += 1) hosts.push(await connectedHost(world, `host-${index}`));
});
afterEach(() => relaysAreReady(world.kube));
afterAll(async () => {
  for (const each of hosts) await each[Symbol.asyncDispose]();
  await world.close();
});

/** Leaves a mark on the host that runs it, then takes a while. */
const marking = (mark: string, seconds: number) => ({
  tool: 'cmd.run',
  args: { command: 'sh', args: ['-c', `echo ran >>"$MARKS/${mark}"; sleep ${seconds}; echo done`] },
});

interface Outcome {
  readonly node_id: string;
  readonly outcome: string;
}
interface StoredRun {
  readonly outcome: string;
  readonly summary: Readonly<Record<string, number>>;
  readonly per_node: readonly Outcome[];
}

/** One run for each host: a command of its own mark on every one of them. */
function startRuns(count: number, seconds: number): { readonly marks: string[]; readonly runs: Promise<InvokedRun[]> } {
  const marks = Array.from({ length: count }, () => randomUUID());
  const policy = { max_concurrency: hostCount, per_target_deadline_secs: 90 };
  const runs = Promise.all(
    marks.map((mark) => world.invoke({ target: { All: null }, ...marking(mark, seconds), policy })),
  );
  return { marks, runs };
}

const began = async (marks: readonly string[]): Promise<number> => {
  const found = await Promise.all(hosts.map(marksOf));
  return marks.reduce((sum, mark) => sum + found.filter((each) => each.has(mark)).length, 0);
};

/** How often a command may have run that ended so. */
function timesOf(outcome: string): readonly number[] {
  if (outcome === 'ok') return [1];
  return outcome === 'not_started' ? [0] : [0, 1];
}

/** Each host has one outcome in each run; what ran, ran once; and a command that is reported to have run has run. */
async function expectEachOnce(marks: readonly string[], runs: readonly InvokedRun[]): Promise<readonly Outcome[]> {
  const all: Outcome[] = [];
  const ran = new Map(await Promise.all(hosts.map(async (each) => [each.nodeId, await marksOf(each)] as const)));
  for (const [index, { id, events }] of runs.entries()) {
    expect(events.filter(({ event }) => event === 'fleet_result')).toHaveLength(1);
    const stored = (await world.http(`/v1/edge/fleet/runs/${id}`)).json<StoredRun>();
    expect(stored.per_node.map(({ node_id }) => node_id).toSorted()).toEqual(
      hosts.map(({ nodeId }) => nodeId).toSorted(),
    );
    expect(Object.values(stored.summary).reduce((sum, count) => sum + count, 0)).toBe(hostCount);
    for (const { node_id, outcome } of stored.per_node) {
      const times = ran.get(node_id)?.get(marks[index] ?? '') ?? 0;
      expect(timesOf(outcome), `${outcome} on ${node_id}`).toContain(times);
    }
    all.push(...stored.per_node);
  }
  return all;
}

describe('a relay replica that stops', () => {
  it('EDGE-RES-26 EDGE-REST-38 killed with forty commands in flight: none runs twice, each host ends with one outcome', async () => {
    const victim = await busiestRelay(world.kube);
    const { marks, runs } = startRuns(runCount, 12);
    await expect.poll(() => began(marks), { timeout: 60_000, interval: 250 }).toBe(runCount * hostCount);
    await deleteRelay(world, victim, 'at once');
    const during = startRuns(2, 1);
    const outcomes = await expectEachOnce(marks, await runs);
    // The hosts kept the results, and gave them to the other replica.
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(outcomes.map(() => 'ok'));
    await expectEachOnce(during.marks, await during.runs);
  });

  it('drains: its daemons connect to another one, no host is reported away, and no command is lost', async () => {
    const victim = await busiestRelay(world.kube);
    const held = (await hostsByRelay(world.kube)).get(victim) ?? 0;
    expect(held).toBeGreaterThan(0);
    const statuses = () =>
      Promise.all(
        hosts.map(async ({ nodeId }) => {
          const ref = { namespace: world.tenant, name: edgeHostName(nodeId) };
          const { status } = await world.kube.get(edgeHosts, ref);
          return [nodeId, status?.status, status?.since];
        }),
      );
    const before = await statuses();
    const { marks, runs } = startRuns(2, 10);
    await expect.poll(() => began(marks), { timeout: 60_000, interval: 250 }).toBe(2 * hostCount);
    await deleteRelay(world, victim, 'gracefully');
    const start = Date.now();
    await expect.poll(() => isThere(world.kube, victim), { timeout: 30_000, interval: 250 }).toBe(false);
    expect(Date.now() - start).toBeLessThan(28_000);
    const outcomes = await expectEachOnce(marks, await runs);
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(outcomes.map(() => 'ok'));
    await expect
      .poll(async () => [...(await hostsByRelay(world.kube)).values()].reduce((sum, count) => sum + count, 0), {
        timeout: 30_000,
      })
      .toBeGreaterThanOrEqual(hostCount);
    // Longer than the grace after which a host without a stream is Disconnected.
    await pause(12_000);
    expect(await statuses()).toEqual(before);
  });
});
