import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { FleetRun } from '../../crds/schema/fleet-run.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import { systemClock } from '../../lib/clock.ts';
import { createFairPool } from '../../lib/fair-pool.ts';
import { type NodeRecord, notStarted } from '../../lib/fleet/node-record.ts';
import { createConfigMapStore } from '../../lib/output-store/config-map-store.ts';
import type { OutputStore } from '../../lib/output-store/output-store.ts';
import { startTestBus, type TestBus } from '../../test/nats/test-bus.ts';
import { countTurns } from '../../test/support/count-turns.ts';
import { FleetServer } from '../../test/support/fleet-controller.ts';
import { createTurnGate } from '../runtime/turn-gate.ts';
import { createHeapBudget, partHeapBytes } from './heap-budget.ts';
import { storeRecords, storeTargets } from './record/store-records.ts';
import { sizeInStatus } from './view/heap-bytes.ts';
import { HeapRoom } from './view/heap-room.ts';
import { createNewsReader } from './view/news-reader.ts';
import { OpenViews } from './view/open-views.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

let nats: TestBus;
let bus: EventBus;
beforeAll(async () => {
  nats = await startTestBus();
  bus = await nats.connected();
}, 300_000);
afterAll(() => nats.stop());
const open: OpenViews[] = [];
afterEach(async () => void (await Promise.all(open.splice(0).map((views) => views.closeAll()))));

const outcomeAt = (at: number): Pick<NodeRecord, 'outcome' | 'exit_code'> =>
  at % 10 === 3 ? { outcome: 'err', exit_code: 3 } : { outcome: 'ok', exit_code: 0 };

/** Runs over so many hosts, each with its whole record in ConfigMaps: another process may have stored it. */
async function storedRuns(count: number, { hosts, tail }: { readonly hosts: number; readonly tail: number }) {
  const runs: { readonly run: FleetRun; readonly store: OutputStore }[] = [];
  for (let index = 0; index < count; index += 1) {
    const server = new FleetServer({});
    const store = createConfigMapStore(server.kube as unknown as Parameters<typeof createConfigMapStore>[0]);
    const nodes = Array.from({ length: hosts }, (_, at) => `n${at}`);
    const targets = { resolved: nodes.map((node) => ({ node_id: node, host_uid: node, name: node })), skipped: [] };
    const status = {
      phase: 'Running' as const,
      targets_resolved: hosts,
      in_flight: 0,
      ...(await storeTargets(store, server.run, targets)),
    };
    const records = nodes.map((node, at) => ({
      ...notStarted(node, `c${at}`),
      ...outcomeAt(at),
      stdout_tail: `${at}`.padEnd(tail, 'x'),
      stderr_tail: `${at}`.padEnd(tail, 'y'),
    }));
    const run = { ...server.run, status };
    runs.push({
      run: {
        ...run,
        status: {
          ...status,
          ...(await storeRecords({ store, heapBudget: createHeapBudget(systemClock) }, run, records)),
        },
      },
      store,
    });
  }
  return runs;
}

type StoredRuns = Awaited<ReturnType<typeof storedRuns>>;

/** A process that takes these runs over, with so many bytes for parts that it reads, and what each reading of a part meets. */
function takeOver(runs: StoredRuns, { bytes, onRead }: { readonly bytes?: number; readonly onRead: () => void }) {
  let [reading, most] = [0, 0];
  const get: OutputStore['get'] = async (namespace, locator) => {
    const { run, store } = runs.find((one) => one.run.metadata.uid === locator.executionUid) ?? {};
    const isPart = run?.status?.per_node_ref?.some(({ ref }) => ref === locator.ref) === true;
    reading += isPart ? 1 : 0;
    most = Math.max(most, reading);
    try {
      await systemClock.sleep(2);
      onRead();
      return (await store?.get(namespace, locator)) ?? Buffer.from('');
    } finally {
      reading -= isPart ? 1 : 0;
    }
  };
  const views = new OpenViews({
    clock: systemClock,
    store: { get },
    newsReader: createNewsReader({ bus, clock: systemClock, turns: createTurnGate() }),
    outputs: createFairPool({ size: 1_048_576, clock: systemClock }),
    heapBudget: createHeapBudget(systemClock, bytes),
    keepArgs: () => async (make, task) => task(await make({})),
    rooms: new HeapRoom(systemClock),
    serveRecords: () => undefined,
    wake: () => undefined,
  });
  open.push(views);
  return {
    views,
    all: () =>
      runs.map(({ run }, index) => {
        expect(views.takeRoom(run, `tenant-${index}`, sizeInStatus(run))).toBe(true);
        return views.reopen(run, `tenant-${index}`);
      }),
    most: () => most,
  };
}

describe('a leader that takes over fleet runs', () => {
  it('EDGE-RES-26 EDGE-REST-38 knows each outcome of the record, and continues behind it', async () => {
    const runs = await storedRuns(1, { hosts: 1_200, tail: 8 });
    const [view] = await Promise.all(takeOver(runs, { onRead: () => undefined }).all());
    expect(view?.progress.summary).toEqual({ ok: 1_080, err: 120, timed_out: 0, cancelled: 0, not_started: 0 });
    expect(view?.progress.outcomeOf('n3')).toBe('err');
    expect(view?.unstored).toMatchObject({ stored: 1_200, all: [] });
  });

  it.each([
    ['one part of two less than it has room for', -1, 1],
    ['two', 0, 2],
    ['two, where it has a little more', 1, 2],
  ])('reads no more parts of all runs at one time than their room takes: %s', async (_, more, want) => {
    const runs = await storedRuns(6, { hosts: 500, tail: 100 });
    const [{ run } = { run: undefined }] = runs;
    const largest = Math.max(...(run?.status?.per_node_ref ?? []).map((part) => partHeapBytes(part.bytes)));
    const leader = takeOver(runs, { bytes: 2 * largest + more, onRead: () => undefined });
    for (const view of await Promise.all(leader.all())) expect(view.progress.terminal).toBe(500);
    expect(leader.most()).toBe(want);
  });

  it('EDGE-RES-26 opens no view that it was reading when it lost the lease, and no room is left taken', async () => {
    const runs = await storedRuns(2, { hosts: 500, tail: 100 });
    const { views, all } = takeOver(runs, { onRead: () => undefined });
    const opening = Promise.allSettled(all());
    await systemClock.sleep(1);
    await views.closeAll();
    for (const end of await opening) expect(end).toMatchObject({ reason: { code: 'lost_leadership' } });
    for (const { run } of runs) expect(views.of(run.metadata.uid ?? '')).toBeUndefined();
    // The same process leads again.
    for (const view of await Promise.all(all())) expect(view.progress.terminal).toBe(500);
  });

  it('EDGE-RES-26 closes many views in turns of the event loop, and has none at once', async () => {
    const runs = await storedRuns(100, { hosts: 1, tail: 8 });
    const { views, all } = takeOver(runs, { onRead: () => undefined });
    const opened = await Promise.all(all());
    const uid = runs[0]?.run.metadata.uid ?? '';
    const turns = await countTurns(() => {
      const closing = views.closeAll();
      expect(views.of(uid)).toBeUndefined();
      return closing;
    });
    expect(turns).toBeGreaterThanOrEqual(4);
    for (const view of opened) expect(view.signal.aborted).toBe(true);
  });

  it('keeps no output of hosts that have ended', async () => {
    const runs = await storedRuns(3, { hosts: 2_500, tail: 4_000 });
    let [peak, before] = [0, 0];
    const measure = (): void => {
      collect();
      peak = Math.max(peak, process.memoryUsage().heapUsed - before);
    };
    const leader = takeOver(runs, { onRead: measure });
    collect();
    before = process.memoryUsage().heapUsed;
    await Promise.all(leader.all());
    // The records have 60 MB of output, and a part has 4.
    expect(peak).toBeLessThan(12 * 1_048_576);
  });
});
