import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../crds/limits.ts';
import type { FleetRun } from '../../../crds/schema/fleet-run.ts';
import { systemClock } from '../../../lib/clock.ts';
import { type NodeRecord, notStarted } from '../../../lib/fleet/node-record.ts';
import { readPerNode, storeReader } from '../../../lib/fleet/run-record.ts';
import { createConfigMapStore } from '../../../lib/output-store/config-map-store.ts';
import type { OutputStore } from '../../../lib/output-store/output-store.ts';
import { FleetServer } from '../../../test/support/fleet-controller.ts';
import { createHeapBudget } from '../heap-budget.ts';
import { fleetRunLimits } from '../limits.ts';
import { bareRecordBytes } from './record-parts.ts';
import { recordsDue, storeRecords } from './store-records.ts';
import { UnstoredRecords } from './unstored-records.ts';

const storeOf = (budgetBytes: number): OutputStore =>
  createConfigMapStore(new FleetServer({}).kube as unknown as Parameters<typeof createConfigMapStore>[0], budgetBytes);

const heapBudget = createHeapBudget(systemClock);

/** A run over so many hosts that has stored nothing of them yet. */
const runOver = (hosts: number): FleetRun => {
  const { run } = new FleetServer({});
  return { ...run, status: { phase: 'Running', targets_resolved: hosts, stored_bytes: 0 } };
};

/** The run after these outcomes were stored one batch after the other, as the controllers do it. */
async function stored(store: OutputStore, run: FleetRun, batches: Iterable<readonly NodeRecord[]>): Promise<FleetRun> {
  let now = run;
  for (const batch of batches) {
    const fields = await storeRecords({ store, heapBudget }, now, batch);
    now = { ...now, status: { ...now.status, ...fields } };
  }
  return now;
}

/** Text that no compression makes much shorter, of so many characters. */
const noise = (length: number): string => randomBytes(length).toString('base64').slice(0, length);
const noisy = (index: number): NodeRecord => ({
  ...notStarted(`${index}-`.padEnd(64, noise(64).replaceAll(/[+/=]/g, 'x')), `${index}-${noise(30)}`),
  outcome: 'err',
  stdout_tail: noise(limits.fleetTailBytes),
  stderr_tail: noise(limits.fleetTailBytes),
  code: noise(128),
  message: noise(1_024),
});
const plain = (index: number): NodeRecord => ({ ...notStarted(`n${index}`, `c${index}`), outcome: 'ok', exit_code: 0 });
const many = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const idsOf = (records: readonly NodeRecord[]): string[] => records.map(({ node_id: id }) => id);
const inBatches = (records: readonly NodeRecord[], size: number): NodeRecord[][] =>
  many(Math.ceil(records.length / size), (at) => records.slice(at * size, (at + 1) * size));

describe('the record of a fleet run', () => {
  it('EDGE-RES-29 has each outcome where the outputs of the first hosts would fill the store', async () => {
    const records = many(1_000, noisy);
    // As much for each host as a run of 10,000 has.
    const store = storeOf(limits.configMapStoreBytes / 10);
    const run = await stored(store, runOver(1_000), inBatches(records, 100));
    const read = await readPerNode(storeReader(store), run);
    expect(idsOf(read)).toEqual(idsOf(records));
    expect(read.at(-1)).toMatchObject({ code: records.at(-1)?.code, message: records.at(-1)?.message });
    expect(run.status?.stored_bytes).toBeLessThan(limits.configMapStoreBytes / 10);
  });

  it('EDGE-RES-29 has each outcome where the store has room for the shortest form alone', async () => {
    const records = many(1_000, noisy);
    const store = storeOf(1_000 * bareRecordBytes);
    const run = await stored(store, runOver(1_000), inBatches(records, 100));
    expect(idsOf(await readPerNode(storeReader(store), run))).toEqual(idsOf(records));
  });

  it('keeps outputs whole where many hosts end at one time', async () => {
    const records = many(1_000, noisy);
    const store = storeOf(limits.configMapStoreBytes);
    const run = await stored(store, runOver(1_000), [records]);
    expect(await readPerNode(storeReader(store), run)).toEqual(records);
  });

  it('has no more parts than its status takes, however long the run is', async () => {
    const records = many(1_200, plain);
    const store = storeOf(limits.configMapStoreBytes);
    // One part a minute: 20 hours of a run with one host after the other.
    const run = await stored(store, runOver(1_200), inBatches(records, 1));
    expect(run.status?.per_node_ref?.length).toBeLessThanOrEqual(limits.fleetRecordParts);
    expect(await readPerNode(storeReader(store), run)).toEqual(records);
  });

  it('has room for the parts of the other hosts where small parts cannot be joined', () => {
    const hosts = 10_000;
    const parts = many(limits.fleetRecordParts - 20, (at) => ({ ref: String(at), bytes: 1, nodes: 1 }));
    const run = runOver(hosts);
    const full = { ...run, status: { ...run.status, per_node_ref: parts } };
    const waiting = new UnstoredRecords(parts.length);
    waiting.add(plain(0), 0);
    expect(recordsDue(full, waiting, fleetRunLimits.recordsWaitMs)).toBe(0);
    const less = { ...run, status: { ...run.status, per_node_ref: parts.slice(1) } };
    expect(recordsDue(less, waiting, fleetRunLimits.recordsWaitMs)).toBe(1);
    for (const record of many(fleetRunLimits.recordsPerPart, plain)) waiting.add(record, 0);
    expect(recordsDue(full, waiting, 0)).toBe(fleetRunLimits.recordsPerPart);
  });

  it('is written again only when what came meanwhile has waited for as long', () => {
    const waiting = new UnstoredRecords(0);
    waiting.add(plain(0), 0);
    const wait = fleetRunLimits.recordsWaitMs;
    const due = recordsDue(runOver(3), waiting, wait);
    expect(due).toBe(1);
    waiting.add(plain(1), wait);
    waiting.noteStored(due);
    expect(recordsDue(runOver(3), waiting, wait + 1_000)).toBe(0);
    expect(recordsDue(runOver(3), waiting, 2 * wait)).toBe(1);
  });
});
