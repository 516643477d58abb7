import { connect, type NatsConnection } from '@nats-io/transport-node';
import type { FleetRun } from '../../../crds/schema/fleet-run.ts';
import { fleetRuns } from '../../../lib/kinds.ts';
import { observe } from '../../../test/cluster/harness/observer.ts';
import type { BenchCluster } from '../bench-cluster.ts';
import { bareSubject } from './bare-setup.ts';
import type { EdgeWorld } from './edge-world.ts';

/** Milliseconds of the same work by both. */
export interface FleetTurn {
  readonly ours: number;
  readonly bare: number;
}

/** A run on that many hosts, and an echo of as many messages, in turns. The controllers of the run have to be there. */
export async function fleetTurns(
  bench: BenchCluster,
  { nats, hosts }: { readonly nats: EdgeWorld['nats']; readonly hosts: number },
  turns: number,
): Promise<FleetTurn[]> {
  const connection = await connect({ servers: nats.url });
  const measured: FleetTurn[] = [];
  try {
    // The first turn warms up.
    for (let turn = 0; turn <= turns; turn += 1) {
      const bare = await echo(connection, hosts);
      const ours = await fleetRun(bench, `run-${turn}`, hosts);
      if (turn > 0) measured.push({ ours, bare });
    }
    return measured;
  } finally {
    await connection.close();
  }
}

/** As large as the order that a relay gets for a command. */
const order = Buffer.alloc(1_100, 'x');

/** Messages to as many hosts of the bare server, all at once, until the last one is back. */
async function echo(connection: NatsConnection, hosts: number): Promise<number> {
  const started = performance.now();
  await Promise.all(
    Array.from({ length: hosts }, (_, host) =>
      connection.request(`${bareSubject}.${host}`, order, { timeout: 60_000 }),
    ),
  );
  return performance.now() - started;
}

/** From the create of the run until a watch shows it as ended. Every host has to have run the command. */
async function fleetRun({ kube, namespace }: BenchCluster, name: string, hosts: number): Promise<number> {
  const observer = await observe(kube, { resource: fleetRuns, namespace });
  const run: FleetRun = {
    apiVersion: 'windlass.dev/v1',
    kind: 'FleetRun',
    metadata: { name, namespace },
    spec: {
      target: { Selector: { labels: [{ Equals: { number: 'even' } }] } },
      tool: 'cmd.run',
      args: { command: 'true' },
      policy: { mode: 'Parallel', max_concurrency: hosts, per_target_deadline_secs: 120 },
      // A policy compares it with the user of the create.
      requested_by: (await kube.whoAmI()).username,
    },
  };
  try {
    const started = performance.now();
    await kube.create(fleetRuns, run);
    const ended = await observer.until(
      (_view, changed) => (changed?.metadata.name === name && changed.status?.phase === 'Ended' ? changed : undefined),
      { timeoutMs: 300_000, what: `the end of ${name}` },
    );
    const passed = performance.now() - started;
    const { ok } = ended.status?.summary ?? {};
    if (ok !== hosts) throw new Error(`${name} ended with ${JSON.stringify(ended.status)}`);
    return passed;
  } finally {
    await observer.stop();
  }
}
