import type { Script } from '../../crds/schema/script.ts';
import type { Clock } from '../../lib/clock.ts';
import { isBeingDeleted } from '../../lib/being-deleted.ts';
import { createFairPool, type FairPool } from '../../lib/fair-pool.ts';
import { scripts } from '../../lib/kinds.ts';
import { findObject, type KubeClient, type KubeObject, listPages, metadataOf } from '../../lib/kube/index.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { createSharedCache } from '../../lib/shared-cache.ts';

/** A script without its code. */
export const rowOf = ({ metadata, spec: { code, ...spec } }: Script) => ({
  id: metadata.uid,
  object: metadata.name,
  ...spec,
  characters: code.length,
  created_at: metadata.creationTimestamp,
});
type ScriptRow = ReturnType<typeof rowOf>;

interface ScriptRowsDeps {
  readonly kube: Pick<KubeClient, 'get' | 'list'>;
  readonly clock: Clock;
}

/** Requests to the API server at once, of all tenants. */
const readsAtOnce = 4;

/**
 * Rows of the scripts of a namespace. Listed is metadata alone; a script is read whole once for each of its versions, since
 * its code may have 256 KiB. Requests of all tenants take turns.
 */
export class ScriptRows {
  readonly #kube: ScriptRowsDeps['kube'];
  readonly #reads: FairPool;
  /** By namespace, and by uid and version. Two bytes a character, and an object. */
  readonly #rows = createSharedCache<ScriptRow>({
    maxBytes: bytesOf('script rows'),
    tenantBytes: 2 * 1_048_576,
    weigh: (row) => 2 * JSON.stringify(row).length + 512,
  });
  readonly #reading = new Map<string, Promise<ScriptRow | undefined>>();

  constructor({ kube, clock }: ScriptRowsDeps) {
    this.#kube = kube;
    this.#reads = createFairPool({ size: readsAtOnce, clock });
  }

  async *of(namespace: string): AsyncGenerator<ScriptRow> {
    const list = listPages((paged) => this.#inPool(namespace, () => this.#kube.list(metadataOf(scripts), paged)), {
      namespace,
    });
    for await (const { items } of list) {
      for (const { metadata } of items.filter((item) => !isBeingDeleted(item))) {
        const row = await this.#find(namespace, metadata);
        if (row !== undefined) yield row;
      }
    }
  }

  /** Undefined where it is gone. Callers of one version share the reading. */
  async #find(namespace: string, metadata: KubeObject['metadata']): Promise<ScriptRow | undefined> {
    const key = versionOf(metadata);
    const known = this.#rows.get(namespace, key);
    if (known !== undefined) return known;
    const reading =
      this.#reading.get(key) ?? this.#read(namespace, metadata.name ?? '').finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  async #read(namespace: string, name: string): Promise<ScriptRow | undefined> {
    const script = await this.#inPool(namespace, () => findObject(this.#kube, scripts, { namespace, name }));
    if (script === undefined) return undefined;
    const row = rowOf(script);
    if (script.metadata.resourceVersion !== undefined) this.#rows.set(namespace, versionOf(script.metadata), row);
    return row;
  }

  #inPool<R>(tenant: string, task: () => Promise<R>): Promise<R> {
    return this.#reads.run({ tenant }, task);
  }
}

const versionOf = ({ uid, resourceVersion }: KubeObject['metadata']): string => `${uid} ${resourceVersion}`;
