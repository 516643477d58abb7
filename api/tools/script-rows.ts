import type { Script } from '../../crds/schema/script.ts';
import type { Clock } from '../../lib/clock.ts';
import { createFairPool, type FairPool } from '../../lib/fair-pool.ts';
import { scripts } from '../../lib/kinds.ts';
import { findObject, type KubeClient, type KubeObject, listPages, metadataOf } from '../../lib/kube/index.ts';

/** A script without its code. */
export const rowOf = ({ metadata, spec: { code, ...spec } }: Script) => ({
  id: metadata.uid,
  object: metadata.name,
  ...spec,
  characters: code.length,
  created_at: metadata.creationTimestamp,
});
export type ScriptRow = ReturnType<typeof rowOf>;

export interface ScriptRowsDeps {
  readonly kube: Pick<KubeClient, 'get' | 'list'>;
  readonly clock: Clock;
}

const bounds = {
  /** Requests to the API server at once, of all tenants. */
  turns: 4,
  /** Heap of the rows of one namespace that are kept. */
  shelfBytes: 2 * 1_048_576,
  /** Namespaces whose rows are kept. */
  shelves: 8,
} as const;

type Row = { readonly row: ScriptRow; readonly bytes: number };

/**
 * Rows of the scripts of a namespace. Listed is metadata alone; a script is read whole once for each of its versions, since
 * its code may have 256 KiB. Requests of all tenants take turns.
 */
export class ScriptRows {
  readonly #kube: ScriptRowsDeps['kube'];
  readonly #turns: FairPool;
  /** By namespace; the one that was asked for last is the last. */
  readonly #shelves = new Map<string, Shelf>();

  constructor({ kube, clock }: ScriptRowsDeps) {
    this.#kube = kube;
    this.#turns = createFairPool({ size: bounds.turns, clock });
  }

  async *of(namespace: string): AsyncGenerator<ScriptRow> {
    const shelf = this.#shelfOf(namespace);
    const turn = <R>(task: () => Promise<R>): Promise<R> => this.#turns.run({ tenant: namespace }, task);
    const read = (name: string) => turn(() => findObject(this.#kube, scripts, { namespace, name }));
    const list = listPages((paged) => turn(() => this.#kube.list(metadataOf(scripts), paged)), { namespace });
    for await (const { items } of list) {
      for (const { metadata } of items) {
        const row = await shelf.find(metadata, read);
        if (row !== undefined) yield row;
      }
    }
  }

  #shelfOf(namespace: string): Shelf {
    const shelf = this.#shelves.get(namespace) ?? new Shelf();
    this.#shelves.delete(namespace);
    this.#shelves.set(namespace, shelf);
    const [oldest = namespace] = this.#shelves.keys();
    if (this.#shelves.size > bounds.shelves) this.#shelves.delete(oldest);
    return shelf;
  }
}

type Read = (name: string) => Promise<Script | undefined>;

/** Rows of one namespace, those used last. */
class Shelf {
  readonly #rows = new Map<string, Row>();
  readonly #reading = new Map<string, Promise<ScriptRow | undefined>>();
  #bytes = 0;

  /** Undefined where it is gone. */
  find({ uid, resourceVersion, name = '' }: KubeObject['metadata'], read: Read): Promise<ScriptRow | undefined> {
    const key = `${uid} ${resourceVersion}`;
    const known = this.#rows.get(key);
    if (known !== undefined) {
      this.#rows.delete(key);
      this.#rows.set(key, known);
      return Promise.resolve(known.row);
    }
    const reading = this.#reading.get(key) ?? this.#read(name, read).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  async #read(name: string, read: Read): Promise<ScriptRow | undefined> {
    const script = await read(name);
    if (script === undefined) return undefined;
    const row = rowOf(script);
    const { uid, resourceVersion } = script.metadata;
    if (resourceVersion !== undefined) this.#keep(`${uid} ${resourceVersion}`, row);
    return row;
  }

  #keep(key: string, row: ScriptRow): void {
    if (this.#rows.has(key)) return;
    // Two bytes a character, and an object.
    const bytes = 2 * JSON.stringify(row).length + 512;
    this.#rows.set(key, { row, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: given }] of this.#rows) {
      if (this.#bytes <= bounds.shelfBytes) return;
      this.#rows.delete(oldest);
      this.#bytes -= given;
    }
  }
}
