import { limits } from '../../../crds/limits.ts';
import type { FleetRun, FleetRunStatus } from '../../../crds/schema/fleet-run.ts';
import type { NodeRecord } from '../../../lib/fleet/node-record.ts';
import type { FrozenTargets } from '../../../lib/fleet/run-record.ts';
import { createBlob } from '../../../lib/output-store/blob.ts';
import type { OutputStore } from '../../../lib/output-store/output-store.ts';
import { fleetRunLimits } from '../limits.ts';
import { fleetRunOwner, RecordParts, type RecordStore } from './record-parts.ts';
import type { UnstoredRecords } from './unstored-records.ts';

type Stored = Partial<Pick<FleetRunStatus, 'per_node_ref' | 'stored_bytes'>>;

/** Stores the targets of a run before anything is sent. */
export async function storeTargets(
  store: Pick<OutputStore, 'put'>,
  run: FleetRun,
  targets: FrozenTargets,
): Promise<Pick<FleetRunStatus, 'targets_ref' | 'stored_bytes'>> {
  const blob = createBlob(Buffer.from(JSON.stringify(targets)));
  const bytes = await store.put(fleetRunOwner(run), [blob], 0);
  const part = { ref: blob.ref, bytes: blob.data.byteLength, nodes: targets.resolved.length };
  return { targets_ref: part, stored_bytes: bytes };
}

/** Stores outcomes as further parts of the record, and joins small parts where there are many. */
export async function storeRecords(store: RecordStore, run: FleetRun, records: readonly NodeRecord[]): Promise<Stored> {
  if (records.length === 0) return {};
  const { recordsPerPart, joinPartsAt } = fleetRunLimits;
  const parts = new RecordParts(store, run);
  if (parts.count >= joinPartsAt) await parts.join();
  for (let from = 0; from < records.length; from += recordsPerPart) {
    await parts.add(records.slice(from, from + recordsPerPart));
  }
  return parts.status;
}

/**
 * How many of the oldest outcomes are stored now: whole parts, or all of them when the first has waited for long. A status takes
 * `fleetRecordParts`; those that the other hosts need yet stay free.
 */
export function recordsDue({ status }: FleetRun, waiting: UnstoredRecords, now: number): number {
  const { recordsPerPart, recordsWaitMs } = fleetRunLimits;
  const { length } = waiting.all;
  if (length >= recordsPerPart) return length - (length % recordsPerPart);
  if (waiting.since === undefined || now - waiting.since < recordsWaitMs) return 0;
  const hostsLater = (status?.targets_resolved ?? 0) - waiting.stored - length;
  const parts = (status?.per_node_ref?.length ?? 0) + 1 + Math.ceil(hostsLater / recordsPerPart);
  return parts <= limits.fleetRecordParts ? length : 0;
}
