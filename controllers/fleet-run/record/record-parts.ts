import { limits } from '../../../crds/limits.ts';
import type { FleetRun, FleetRunStatus, StoredPart } from '../../../crds/schema/fleet-run.ts';
import { type NodeRecord, tailOf } from '../../../lib/fleet/node-record.ts';
import { storeReader } from '../../../lib/fleet/run-record.ts';
import { type Blob, createBlob } from '../../../lib/output-store/blob.ts';
import { type BlobOwner, OutputBudgetExceeded, type OutputStore } from '../../../lib/output-store/output-store.ts';
import type { HeapBudget } from '../heap-budget.ts';
import { fleetRunLimits } from '../limits.ts';

/** Bytes of the shortest form of an outcome as JSON, at most. */
export const bareRecordBytes = 512;

/**
 * How much of each outcome is kept. A form is used where `leaveBytes` of the store remain for each host whose outcome
 * comes later. Tails leave room for messages, and both leave room for the shortest form, so that no outcome is ever
 * without a place.
 */
const forms = [
  { tailBytes: limits.fleetTailBytes, messageBytes: 1_024, codeLength: 128, leaveBytes: 1_024 },
  { tailBytes: fleetRunLimits.shortTailBytes, messageBytes: 1_024, codeLength: 128, leaveBytes: 1_024 },
  { tailBytes: 0, messageBytes: 1_024, codeLength: 128, leaveBytes: bareRecordBytes },
  { tailBytes: 0, messageBytes: 0, codeLength: 24, leaveBytes: bareRecordBytes },
] as const;
type Form = (typeof forms)[number];

/** A store of records, and turns for the parts of them that are read. */
export interface RecordStore {
  readonly store: Pick<OutputStore, 'put' | 'get'>;
  readonly heapBudget: HeapBudget;
}

/** The parts of the record of one run, with what they take in the store. */
export class RecordParts {
  readonly #store: Pick<OutputStore, 'put' | 'get'>;
  readonly #heapBudget: HeapBudget;
  readonly #run: FleetRun;
  #parts: readonly StoredPart[];
  #usedBytes: number;

  constructor({ store, heapBudget }: RecordStore, run: FleetRun) {
    this.#store = store;
    this.#heapBudget = heapBudget;
    this.#run = run;
    this.#parts = run.status?.per_node_ref ?? [];
    this.#usedBytes = run.status?.stored_bytes ?? 0;
  }

  /** Hosts whose outcome no part has. */
  get hostsLeft(): number {
    return this.#parts.reduce((left, { nodes }) => left - nodes, this.#run.status?.targets_resolved ?? 0);
  }

  get count(): number {
    return this.#parts.length;
  }

  get status(): Required<Pick<FleetRunStatus, 'per_node_ref' | 'stored_bytes'>> {
    return { per_node_ref: [...this.#parts], stored_bytes: this.#usedBytes };
  }

  /** Stores outcomes as one more part. */
  async add(records: readonly NodeRecord[]): Promise<void> {
    const part = await this.#put(records, this.hostsLeft - records.length);
    this.#parts = [...this.#parts, part];
  }

  /**
   * Makes one part of neighbours that are small enough together, so that a run of any length has few. The former ones stay in the
   * store until the run is deleted: a reader may have an older status. Neighbours for which there is no room stay as they are.
   */
  async join(): Promise<void> {
    const joined: StoredPart[] = [];
    const tenant = this.#run.metadata.namespace ?? '';
    for (const group of groupsOf(this.#parts)) {
      if (group.length === 1) joined.push(...group);
      else joined.push(...(await this.#heapBudget(tenant, group, () => this.#joinGroup(group))));
    }
    this.#parts = joined;
  }

  async #joinGroup(group: readonly StoredPart[]): Promise<readonly StoredPart[]> {
    const read = storeReader(this.#store);
    const records: NodeRecord[] = [];
    for (const part of group) records.push(...((await read(this.#run, part)) as readonly NodeRecord[]));
    try {
      return [await this.#put(records, this.hostsLeft)];
    } catch (error) {
      if (error instanceof OutputBudgetExceeded) return group;
      throw error;
    }
  }

  async #put(records: readonly NodeRecord[], hostsLater: number): Promise<StoredPart> {
    for (const form of forms) {
      const blob = createBlob(Buffer.from(JSON.stringify(records.map((record) => cut(record, form)))));
      if (blob.data.byteLength > fleetRunLimits.partBytes) continue;
      const bytes = await this.#tryPut(blob, Math.max(0, hostsLater) * form.leaveBytes);
      if (bytes === undefined) continue;
      this.#usedBytes += bytes;
      return { ref: blob.ref, bytes: blob.data.byteLength, nodes: records.length };
    }
    throw new OutputBudgetExceeded(`the record of the run has no room for ${records.length} outcomes`);
  }

  /** Bytes that it takes; undefined where the store has no room for it beside `leaveBytes` more. */
  async #tryPut(blob: Blob, leaveBytes: number): Promise<number | undefined> {
    try {
      return await this.#store.put(fleetRunOwner(this.#run), [blob], this.#usedBytes + leaveBytes);
    } catch (error) {
      if (error instanceof OutputBudgetExceeded) return undefined;
      throw error;
    }
  }
}

/** Neighbours, in their order, that are one part together at most. */
function groupsOf(parts: readonly StoredPart[]): StoredPart[][] {
  const groups: StoredPart[][] = [];
  let room = 0;
  for (const part of parts) {
    const group = groups.at(-1);
    if (group === undefined || part.nodes > room) {
      groups.push([part]);
      room = fleetRunLimits.recordsPerPart - part.nodes;
    } else {
      group.push(part);
      room -= part.nodes;
    }
  }
  return groups;
}

const cut = (record: NodeRecord, { tailBytes, messageBytes, codeLength }: Form): NodeRecord => ({
  ...record,
  stdout_tail: tailOf(record.stdout_tail, tailBytes),
  stderr_tail: tailOf(record.stderr_tail, tailBytes),
  ...(record.code === undefined ? {} : { code: record.code.slice(0, codeLength) }),
  ...(record.message === undefined ? {} : { message: tailOf(record.message, messageBytes) }),
});

export const fleetRunOwner = ({ metadata: { name, namespace = '', uid = '' } }: FleetRun): BlobOwner => ({
  kind: 'FleetRun',
  name,
  namespace,
  uid,
});
