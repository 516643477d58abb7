import type { NodeRecord } from '../../../lib/fleet/node-record.ts';
import { fleetRunLimits } from '../limits.ts';

/** Outcomes of a run that no part of its record has yet, in the order in which they came. */
export class UnstoredRecords {
  readonly #records: NodeRecord[] = [];
  /** When each of them came, in time that never steps. */
  readonly #cameAt: number[] = [];
  #stored: number;
  #isStorable = true;

  /** `stored`: outcomes that parts have already. */
  constructor(stored: number) {
    this.#stored = stored;
  }

  get all(): readonly NodeRecord[] {
    return this.#records;
  }

  get stored(): number {
    return this.#stored;
  }

  /** Whether the store has taken those that it was asked to take last. */
  noteStorable(isStorable: boolean): void {
    this.#isStorable = isStorable;
  }

  /** Whether so many wait in vain as have room in memory beside those in flight (`heapBytesOf`). */
  get isFull(): boolean {
    return !this.#isStorable && this.#records.length >= fleetRunLimits.recordsPerPart;
  }

  /** When the oldest of them came; undefined where none waits. */
  get since(): number | undefined {
    return this.#cameAt[0];
  }

  add(record: NodeRecord, now: number): void {
    this.#records.push(record);
    this.#cameAt.push(now);
  }

  /** Puts a record in the place of one of the same host that waits. */
  replace(node: string, change: (record: NodeRecord) => NodeRecord): void {
    const place = this.#records.findIndex(({ node_id: id }) => id === node);
    const record = this.#records[place];
    if (record !== undefined) this.#records[place] = change(record);
  }

  /** The oldest of them are in the store, and are given. Those that came meanwhile have waited since they came. */
  noteStored(count: number): readonly NodeRecord[] {
    const stored = this.#records.splice(0, count);
    this.#cameAt.splice(0, count);
    this.#stored += count;
    return stored;
  }
}
