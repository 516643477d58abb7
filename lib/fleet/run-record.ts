import type { FleetRun, StoredPart } from '../../crds/schema/fleet-run.ts';
import { commandIdOf } from '../edge/index.ts';
import type { OutputStore } from '../output-store/output-store.ts';
import { valueOf } from '../output-store/blob-value.ts';
import { notStarted, type NodeRecord } from './node-record.ts';
import type { SkippedHost } from './selector.ts';

/** The targets of a run, as they were fixed at its start. Both lists are in the order of node ids. */
export interface FrozenTargets {
  readonly resolved: readonly FrozenTarget[];
  readonly skipped: readonly SkippedHost[];
}

export interface FrozenTarget {
  readonly node_id: string;
  /** uid of its EdgeHost. */
  readonly host_uid: string;
  readonly name: string;
}

type Store = Pick<OutputStore, 'get'>;

async function readPart(store: Store, run: FleetRun, { ref, bytes }: StoredPart): Promise<unknown> {
  const { uid = '', namespace = '' } = run.metadata;
  const locator = { executionUid: uid, ref, bytes, encoding: 'json' as const };
  return valueOf(await store.get(namespace, locator), locator);
}

/** The fixed targets; none of a run that has not begun. Throws AppError `not_found` where they are lost. */
export async function readTargets(store: Store, run: FleetRun): Promise<FrozenTargets> {
  const part = run.status?.targets_ref;
  if (part === undefined) return { resolved: [], skipped: [] };
  // Only the controllers write what the status names, and its hash was checked.
  return (await readPart(store, run, part)) as FrozenTargets;
}

/** The records that are stored so far, in the order in which the results came. */
export async function readRecords(store: Store, run: FleetRun): Promise<NodeRecord[]> {
  const records: NodeRecord[] = [];
  for (const part of run.status?.per_node_ref ?? []) {
    records.push(...((await readPart(store, run, part)) as readonly NodeRecord[]));
  }
  return records;
}

/**
 * One record for each target, in the order of node ids (spec 2 §2.4, `per_node`): of a run under way those hosts that have
 * an outcome, of one that has ended every host, and none of one whose record is lost.
 */
export async function readPerNode(store: Store, run: FleetRun): Promise<NodeRecord[]> {
  if (run.status?.reason === 'RecordLost') return [];
  const [{ resolved }, records] = await Promise.all([readTargets(store, run), readRecords(store, run)]);
  const byNode = new Map(records.map((record) => [record.node_id, record]));
  const isOver = run.status?.phase === 'Ended';
  return resolved.flatMap(({ node_id: nodeId }) => {
    const record = byNode.get(nodeId);
    if (record !== undefined) return [record];
    return isOver ? [notStarted(nodeId, commandIdOf(run.metadata.uid ?? '', nodeId))] : [];
  });
}
