import { describe, expect, it } from 'vitest';
import type { FleetRun } from '../../../crds/schema/fleet-run.ts';
import { systemClock } from '../../../lib/clock.ts';
import { commandIdOf, type EdgeNews } from '../../../lib/edge/index.ts';
import { createFairPool, type FairPool } from '../../../lib/fair-pool.ts';
import { endedStatus } from '../status.ts';
import { RunView } from './run-view.ts';

const hosts = Array.from({ length: 50 }, (_, index) => `n${index}`);
/** Two bytes a character in memory, as one of them is no Latin-1. */
const wide = Buffer.from(`ā${'x'.repeat(4_000)}`).toString('base64');
const size = 1_048_576;

interface Fleet {
  readonly outputs: FairPool;
  readonly uid: string;
  readonly tenant: string;
  readonly isEnded?: boolean;
}

/** A run whose hosts have sent 4 KiB of each stream, and then, where it has ended, no result in time. */
async function runOf({ outputs, uid, tenant, isEnded = false }: Fleet): Promise<RunView> {
  const about = (node: string) => {
    return { tenant, run: uid, node_id: node, command_id: commandIdOf(uid, node), at: '2026-01-01T00:00:00Z' };
  };
  const output = (node: string): EdgeNews[] =>
    (['stdout', 'stderr'] as const).map((stream) => {
      return { ...about(node), kind: 'progress', chunk: { stream, data: wide } };
    });
  const late = (node: string): EdgeNews => {
    return { ...about(node), kind: 'result', result: { outcome: 'timed_out', deadline_ms: 5_000 } };
  };
  const news = hosts.flatMap((node) => [...output(node), ...(isEnded ? [late(node)] : [])]);
  const pages = [news.map((one, index) => ({ sequence: index + 1, storedAt: index, news: one }))];
  const read = async function* () {
    yield* pages.shift() ?? [];
  };
  const listen = () => ({ [Symbol.asyncDispose]: async () => undefined });
  const woken = Promise.withResolvers<void>();
  const view = new RunView(
    {
      clock: systemClock,
      news: { read, has: async () => true, listen },
      outputs,
      keepArgs: () => async (make, task) => task(await make({})),
      wake: woken.resolve,
    },
    {
      run: { metadata: { name: uid, namespace: `tenant-${tenant}`, uid }, spec: {} } as unknown as FleetRun,
      tenant,
      targets: { resolved: hosts.map((node) => ({ node_id: node, host_uid: node, name: node })), skipped: [] },
      records: [],
      isNew: true,
    },
  );
  void view.follow();
  await woken.promise;
  return view;
}

/** As many runs as take several times the pool. */
async function runsOf(outputs: FairPool, tenant: string, isEnded = false): Promise<RunView[]> {
  const runs: RunView[] = [];
  for (let at = 0; at < 10; at += 1) runs.push(await runOf({ outputs, uid: `${tenant}-${at}`, tenant, isEnded }));
  return runs;
}

const close = (...runs: readonly RunView[]): void => {
  for (const run of runs) run.close();
};

describe('output of fleet runs under way', () => {
  it('of all runs of one tenant has its share of one pool, and another tenant has room beside it', async () => {
    const outputs = createFairPool({ size, clock: systemClock });
    const runs = await runsOf(outputs, 'acme');
    expect(outputs.used).toBeGreaterThan(size / 2);
    expect(outputs.used).toBeLessThanOrEqual(outputs.share);
    expect(runs.at(-1)?.cutHosts).toBe(hosts.length);
    expect(runs[0]?.cutHosts).toBe(0);
    const other = await runsOf(outputs, 'rival');
    expect(outputs.heldBy('rival')).toBeGreaterThan(size / 20);
    close(...runs, ...other);
    expect(outputs.used).toBe(0);
  });

  it('counts until the outcomes are stored, and no outcome is left out', async () => {
    const outputs = createFairPool({ size, clock: systemClock });
    const runs = await runsOf(outputs, 'acme', true);
    expect(outputs.used).toBeGreaterThan(size / 2);
    expect(runs.map(({ unstored }) => unstored.all.length)).toEqual(runs.map(() => hosts.length));
    const [first, last] = [runs[0]?.unstored.all[0], runs.at(-1)?.unstored.all.at(-1)];
    expect([first?.stdout_tail.length, last?.outcome, last?.stdout_tail]).toEqual([4_001, 'timed_out', '']);
    for (const run of runs) run.noteStored(hosts.length);
    expect(outputs.used).toBe(0);
    close(...runs);
  });

  it('that was cut is named by the status in which the run ends', () => {
    const run = { metadata: { name: 'r', namespace: 'tenant-acme', uid: 'r' }, spec: {} } as unknown as FleetRun;
    const summary = { ok: 0, err: 0, timed_out: 50, cancelled: 0, not_started: 0 };
    const messageOf = (cutHosts: number) =>
      endedStatus(run, 0, { outcome: 'complete', summary, cutHosts } as Parameters<typeof endedStatus>[2], {}).message;
    expect(messageOf(50)).toContain('output of 50 hosts was cut in the record');
    expect(messageOf(0)).not.toContain('cut');
  });
});
