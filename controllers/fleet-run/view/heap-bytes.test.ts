import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import type { FleetRun } from '../../../crds/schema/fleet-run.ts';
import { systemClock } from '../../../lib/clock.ts';
import { createFairPool } from '../../../lib/fair-pool.ts';
import type { FrozenTargets } from '../../../lib/fleet/run-record.ts';
import { poolOf } from '../../../test/support/fleet-controller.ts';
import { createArgumentPool, createKeepArgs } from '../commands/run-arguments.ts';
import { type DriveDeps, drive } from '../drive/drive.ts';
import { createHeapBudget } from '../heap-budget.ts';
import { sizeOfTargets, heapBytesOf } from './heap-bytes.ts';
import { RunView } from './run-view.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

interface Shape {
  readonly runs: number;
  readonly hosts: number;
  readonly args: string;
  readonly most: number;
}

const copy = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const targetsOf = (hosts: number): FrozenTargets =>
  copy({
    resolved: Array.from({ length: hosts }, () => ({
      node_id: randomUUID(),
      host_uid: randomUUID(),
      name: `machine-${randomUUID()}`,
    })),
    skipped: [],
  });

const runOf = ({ args, most }: Shape): FleetRun => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'FleetRun',
  metadata: { name: randomUUID(), namespace: 'tenant-acme', uid: randomUUID() },
  spec: {
    tool: 'cmd.run',
    args: JSON.parse(args) as NonNullable<FleetRun['spec']['args']>,
    requested_by: 'ada',
    target: { All: {} },
    policy: { max_concurrency: most },
  },
});

const never = (): Promise<never> => new Promise(() => undefined);
const keepArgs = createKeepArgs({
  kube: { get: never },
  heapBudget: createHeapBudget(systemClock),
  onTheWay: createArgumentPool(systemClock),
});
const outputs = createFairPool({ size: 1_048_576, clock: systemClock });
const news = { read: async function* () {}, has: async () => true, listen: () => ({ [Symbol.asyncDispose]: never }) };

/** Calls of these never end: all commands of a run are in flight, and wait for their turn. */
const busy = (): DriveDeps => ({
  clock: systemClock,
  sender: { claim: never, roomFor: never, recordOf: never, seal: never, send: never, cancel: never },
  news: { report: never },
  recent: { ended: () => undefined },
  launches: poolOf(64),
  cancels: poolOf(64),
});

/** The heap that runs take, as a part of the room that they have. */
async function partTaken(shape: Shape): Promise<number> {
  const deps = busy();
  const views: RunView[] = [];
  let bytes = 0;
  const open = async (): Promise<void> => {
    const [run, targets] = [runOf(shape), targetsOf(shape.hosts)];
    bytes += heapBytesOf(run, sizeOfTargets(targets));
    const view = new RunView(
      { clock: systemClock, news, outputs, keepArgs, wake: () => undefined },
      { run, tenant: 'acme', targets, records: [], isNew: true },
    );
    views.push(view);
    void drive(deps, view);
    await setImmediate();
  };
  // The first compiles.
  await open();
  collect();
  const before = process.memoryUsage().heapUsed;
  bytes = 0;
  for (let at = 0; at < shape.runs; at += 1) await open();
  await setImmediate();
  collect();
  const taken = process.memoryUsage().heapUsed - before;
  for (const view of views) view.close();
  await setImmediate();
  return taken / bytes;
}

const wide = `{"a":[${Array.from({ length: 21_000 }, () => '[]').join(',')}]}`;
const almostKept = `{"a":[${Array.from({ length: 1_360 }, () => '[]').join(',')}]}`;
const small = '{"command":"id"}';

it.each<[string, Shape]>([
  ['of one host, with large arguments of many values', { runs: 200, hosts: 1, args: wide, most: 10 }],
  ['of one host, with the largest arguments that are kept', { runs: 200, hosts: 1, args: almostKept, most: 10 }],
  ['of 1,000 hosts', { runs: 20, hosts: 1_000, args: small, most: 10 }],
  ['of 10,000 hosts', { runs: 3, hosts: 10_000, args: small, most: 10 }],
  ['of 2,000 hosts, all in flight at once', { runs: 3, hosts: 2_000, args: small, most: 2_000 }],
  ['of 10,000 hosts, all in flight at once', { runs: 1, hosts: 10_000, args: small, most: 10_000 }],
])('runs take no more of the heap than the room that they have: %s', async (_, shape) => {
  expect(await partTaken(shape)).toBeLessThan(1);
});
