import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { FleetRun, FleetRunStatus } from '../../../../crds/schema/fleet-run.ts';
import { systemClock } from '../../../../lib/clock.ts';
import type { OutputReader } from '../../../../lib/execution/output-reader.ts';
import { createBlob } from '../../../../lib/output-store/blob.ts';
import { lost } from '../../../../lib/output-store/packed.ts';
import type { NodeRecord } from '../../../../lib/fleet/node-record.ts';
import { recordPartBytes } from '../../../../lib/fleet/run-record.ts';
import { bytesOf } from '../../../../lib/memory-budget/index.ts';
import { createRunRecords } from './records.ts';

const store = new Map<string, Uint8Array>();

function part(value: unknown, nodes: number) {
  const blob = createBlob(Buffer.from(JSON.stringify(value)));
  store.set(blob.ref, blob.data);
  return { ref: blob.ref, bytes: blob.data.byteLength, nodes };
}

const record = (node_id: string) => ({ node_id, command_id: 'c', outcome: 'ok', exit_code: 0, duration_ms: 1 });
const targets = part({ resolved: [{ node_id: 'a' }, { node_id: 'b' }], skipped: [] }, 2);
const first = part([record('a')], 1);
const second = part([record('b')], 1);

const runWith = (status: Partial<FleetRunStatus>): FleetRun => ({
  apiVersion: 'windlass.dev/v1',
  kind: 'FleetRun',
  metadata: { name: 'r', namespace: 'acme', uid: 'u' },
  spec: { target: { All: null }, tool: 'cmd.run', requested_by: 'ada' },
  status: { phase: 'Ended', reason: 'Completed', targets_ref: targets, per_node_ref: [first, second], ...status },
});

/** Records of a store from which these parts were deleted. */
function recordsWithout(...gone: readonly { readonly ref: string }[]) {
  const outputs: OutputReader =
    () =>
    async ({ ref }) => {
      const data = gone.some((one) => one.ref === ref) ? undefined : store.get(ref);
      if (data === undefined) throw lost(ref, 'no such ConfigMap');
      return data;
    };
  const bus = { request: (): never => expect.fail('the record of a run that is over is in the store') };
  return createRunRecords({ clock: systemClock, outputs, bus });
}

const nodesOf = async (records: ReturnType<typeof createRunRecords>, run: FleetRun): Promise<string[] | undefined> =>
  (await records.perNode(run))?.map(({ node_id }) => node_id);

describe('the record of a fleet run', () => {
  it('EDGE-REST-37 names each host while it is there', async () => {
    expect(await nodesOf(recordsWithout(), runWith({}))).toEqual(['a', 'b']);
  });

  it.each([
    ['its targets', targets],
    ['the first outcomes', first],
    ['the last outcomes', second],
  ])(
    'is lost where %s of an ended run were deleted, and names no host rather than some that it knows nothing of',
    async (_, gone) => {
      expect(await nodesOf(recordsWithout(gone), runWith({}))).toBeUndefined();
    },
  );

  it('is not asked for where the controllers have found it lost', async () => {
    const run = runWith({ reason: 'RecordLost' });
    expect(await nodesOf(recordsWithout(targets, first, second), run)).toBeUndefined();
    expect(await recordsWithout(targets).targets(run)).toEqual({ resolved: [], skipped: [] });
  });

  it('that is lost under a run which is not over is an error: the controllers have not ended it yet', async () => {
    const running = runWith({ phase: 'Running', reason: undefined });
    await expect(recordsWithout(first).perNode(running)).rejects.toMatchObject({ reason: 'OutputLost' });
  });

  it('EDGE-REST-37 is read part after part, and readers take turns for the memory of parts', async () => {
    const inMemory = { now: 0, most: 0 };
    const outputs: OutputReader =
      () =>
      async ({ ref }) => {
        inMemory.now += 1;
        inMemory.most = Math.max(inMemory.most, inMemory.now);
        await setImmediate();
        inMemory.now -= 1;
        return store.get(ref) ?? new Uint8Array();
      };
    const records = createRunRecords({ clock: systemClock, outputs, bus: { request: () => expect.fail('over') } });
    const parts = Math.floor(bytesOf('records of fleet runs') / recordPartBytes);
    const readers = Array.from({ length: 3 * parts + 3 }, () => nodesOf(records, runWith({})));
    for (const nodes of await Promise.all(readers)) expect(nodes).toEqual(['a', 'b']);
    expect(inMemory.most).toBeLessThanOrEqual(Math.max(1, parts));
  });

  describe('in pages', () => {
    const many = Array.from({ length: 40 }, (_, index) => ({ ...record(`n${index}`), stdout_tail: 'x'.repeat(4_096) }));
    const [one, two] = [part(many.slice(0, 30), 30), part(many.slice(30), 10)];
    const run = runWith({ per_node_ref: [one, two] });
    const take = ({ node_id: id, outcome }: NodeRecord) => (id === 'n7' ? undefined : { id, outcome });
    const size = JSON.stringify({ id: 'n10', outcome: 'ok' }).length;

    async function pagesOf(records: ReturnType<typeof createRunRecords>, bytes: number): Promise<string[][]> {
      const pages: string[][] = [];
      for await (const page of records.pages(run, { take, bytes })) pages.push(page.map(({ id }) => id));
      return pages;
    }

    it('has no more than so many bytes in a page, each record once, and none that is not wanted', async () => {
      const pages = await pagesOf(recordsWithout(), 10 * size);
      expect(pages.flat()).toEqual(many.map(({ node_id: id }) => id).filter((id) => id !== 'n7'));
      // The names of the first ones are shorter.
      expect(pages.map(({ length }) => length)).toEqual([11, 10, 8, 10]);
      expect(await pagesOf(recordsWithout(), 1)).toHaveLength(39);
    });

    it('ends before a part that is lost', async () => {
      expect((await pagesOf(recordsWithout(two), 1_000_000)).flat()).toHaveLength(29);
    });
  });
});
