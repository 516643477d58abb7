import { describe, expect, it } from 'vitest';
import type { FleetRun, FleetRunStatus } from '../../../../crds/schema/fleet-run.ts';
import type { OutputReader } from '../../../../lib/execution/output-reader.ts';
import { createBlob } from '../../../../lib/output-store/blob.ts';
import { lost } from '../../../../lib/output-store/packed.ts';
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
  return createRunRecords({ outputs, bus });
}

const nodesOf = async (records: ReturnType<typeof createRunRecords>, run: FleetRun): Promise<string[]> =>
  (await records.perNode(run)).map(({ node_id }) => node_id);

describe('the record of a fleet run', () => {
  it('EDGE-REST-37 names each host while it is there', async () => {
    expect(await nodesOf(recordsWithout(), runWith({}))).toEqual(['a', 'b']);
  });

  it.each([
    ['its targets', targets],
    ['the first outcomes', first],
    ['the last outcomes', second],
  ])(
    'names no host of an ended run where %s were deleted, rather than some that it knows nothing of',
    async (_, gone) => {
      expect(await nodesOf(recordsWithout(gone), runWith({}))).toEqual([]);
    },
  );

  it('is not asked for where the controllers have found it lost', async () => {
    const run = runWith({ reason: 'RecordLost' });
    expect(await nodesOf(recordsWithout(targets, first, second), run)).toEqual([]);
    expect(await recordsWithout(targets).targets(run)).toEqual({ resolved: [], skipped: [] });
  });

  it('that is lost under a run which is not over is an error: the controllers have not ended it yet', async () => {
    const running = runWith({ phase: 'Running', reason: undefined });
    await expect(recordsWithout(first).perNode(running)).rejects.toMatchObject({ reason: 'OutputLost' });
  });
});
