import { limits } from '../../crds/limits.ts';
import type { FleetRun, FleetRunStatus, StoredPart } from '../../crds/schema/fleet-run.ts';
import { type NodeRecord, tailOf } from '../../lib/fleet/node-record.ts';
import type { FrozenTargets } from '../../lib/fleet/run-record.ts';
import { createBlob } from '../../lib/output-store/blob.ts';
import { OutputBudgetExceeded, type OutputStore } from '../../lib/output-store/output-store.ts';
import { fleetRunLimits } from './limits.ts';

type Store = Pick<OutputStore, 'put'>;

const ownerOf = ({ metadata: { name, namespace = '', uid = '' } }: FleetRun) =>
  ({ kind: 'FleetRun', name, namespace, uid }) as const;

/** Stores the targets of a run before anything is sent. */
export async function storeTargets(
  store: Store,
  run: FleetRun,
  targets: FrozenTargets,
): Promise<Pick<FleetRunStatus, 'targets_ref' | 'stored_bytes'>> {
  const blob = createBlob(Buffer.from(JSON.stringify(targets)));
  const bytes = await store.put(ownerOf(run), [blob], 0);
  const part = { ref: blob.ref, bytes: blob.data.byteLength, nodes: targets.resolved.length };
  return { targets_ref: part, stored_bytes: bytes };
}

/** Stores outcomes as one more part of the record. Where the store has no room for all, tails become shorter. */
export async function storeRecords(
  store: Store,
  run: FleetRun,
  records: readonly NodeRecord[],
): Promise<Pick<FleetRunStatus, 'per_node_ref' | 'stored_bytes'>> {
  const used = run.status?.stored_bytes ?? 0;
  const { blob, bytes } = await putCut(store, run, records, used);
  const part: StoredPart = { ref: blob.ref, bytes: blob.data.byteLength, nodes: records.length };
  return { per_node_ref: [...(run.status?.per_node_ref ?? []), part], stored_bytes: used + bytes };
}

async function putCut(store: Store, run: FleetRun, records: readonly NodeRecord[], used: number) {
  for (const tailBytes of [limits.fleetTailBytes, fleetRunLimits.shortTailBytes]) {
    const blob = blobOf(records, tailBytes);
    if (blob.data.byteLength > fleetRunLimits.partBytes) continue;
    try {
      return { blob, bytes: await store.put(ownerOf(run), [blob], used) };
    } catch (error) {
      if (!(error instanceof OutputBudgetExceeded)) throw error;
    }
  }
  const blob = blobOf(records, 0);
  return { blob, bytes: await store.put(ownerOf(run), [blob], used) };
}

const blobOf = (records: readonly NodeRecord[], tailBytes: number) =>
  createBlob(Buffer.from(JSON.stringify(records.map((record) => cut(record, tailBytes)))));

const cut = (record: NodeRecord, bytes: number): NodeRecord => ({
  ...record,
  stdout_tail: tailOf(record.stdout_tail, bytes),
  stderr_tail: tailOf(record.stderr_tail, bytes),
});
