import { isUid } from '../../crds/uid.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CacheReader } from '../../lib/informer/index.ts';
import { isObjectName, type KubeClient, type KubeObject, type Resource } from '../../lib/kube/index.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import { createUnknownIds, type UnknownIds } from '../../lib/unknown-ids.ts';
import { type CatchUp, createCatchUp } from './catch-up.ts';
import type { Reserve } from './executions.ts';
import { createServerReads, lookUpBounds, type ServerReads } from '../../lib/server-reads.ts';

/** Objects of one kind as a tenant sees them: those of its namespace, and those of one that all share, where there is one. */
export interface TenantObjects<T extends KubeObject> {
  /**
   * By id or name, in full; one that was created a moment ago is found. Undefined for what is none of the tenant. Where it
   * is large, `reserve` waits for the bytes of heap that it will take.
   */
  find(tenant: string, nameOrUid: string, reserve?: Reserve): Promise<T | undefined>;
  /** The same, of which there may be no more than what a list shows. */
  locate(tenant: string, nameOrUid: string): Promise<T | undefined>;
  /** Its own, in no particular order; of each only what a list shows. */
  list(tenant: string): readonly T[];
  /** An object of the cache in full; undefined when it is there no more. */
  whole(object: T): Promise<T | undefined>;
  /** Takes the answer of a write of our own. */
  remember(object: T): void;
  /** Resolves when the cache has let go of an object that was deleted, or after a second. */
  forgotten(uid: string): Promise<void>;
}

interface TenantObjectsDeps<T extends KubeObject> {
  readonly kube: Pick<KubeClient, 'get' | 'list'>;
  readonly clock: Clock;
  readonly resource: Resource<T>;
  readonly cache: CacheReader<T, 'namespace'>;
  readonly whole: (object: T) => Promise<T | undefined>;
  /** Bytes of heap of an object in full, where that is much. */
  readonly weight: (object: T) => number;
  readonly tenants: TenantDirectory;
  /** A namespace whose objects every tenant sees, unless it has one of that name itself. */
  readonly shared?: string;
}

/** Ids that the server did not have, and for how long that is believed. */
const unknownIds = { capacity: 10_000, lifeMs: 60_000 };
/** How often, and how many times, the cache is asked whether it has let go of an object. */
const forgetting = { everyMs: 10, times: 100 };

export function createTenantObjects<T extends KubeObject>(deps: TenantObjectsDeps<T>): TenantObjects<T> {
  return new CachedObjects(deps);
}

class CachedObjects<T extends KubeObject> implements TenantObjects<T> {
  readonly #deps: TenantObjectsDeps<T>;
  readonly #live: ServerReads<T>;
  readonly #catchUp: CatchUp;
  readonly #unknown: UnknownIds;

  constructor(deps: TenantObjectsDeps<T>) {
    this.#deps = deps;
    this.#live = createServerReads({ ...deps, bounds: lookUpBounds });
    this.#catchUp = createCatchUp(deps);
    this.#unknown = createUnknownIds(deps.clock, unknownIds);
  }

  async find(tenant: string, nameOrUid: string, reserve?: Reserve): Promise<T | undefined> {
    const found = await this.locate(tenant, nameOrUid);
    if (found === undefined) return undefined;
    const bytes = this.#deps.weight(found);
    if (bytes > 0) await reserve?.(bytes);
    return this.whole(found);
  }

  async locate(tenant: string, nameOrUid: string): Promise<T | undefined> {
    const namespace = this.#deps.tenants.namespaceOf(tenant);
    if (namespace === undefined) return undefined;
    // An id never means a name (ADR 0050).
    if (isUid(nameOrUid)) return this.#findById(namespace, nameOrUid);
    if (!isObjectName(nameOrUid)) return undefined;
    return this.#findByName(namespace, nameOrUid);
  }

  list(tenant: string): readonly T[] {
    return this.#deps.cache.byIndex('namespace', this.#deps.tenants.namespaceOf(tenant) ?? '');
  }

  whole(object: T): Promise<T | undefined> {
    return this.#deps.whole(object);
  }

  remember(object: T): void {
    this.#deps.cache.remember(object);
  }

  async forgotten(uid: string): Promise<void> {
    const { cache, clock } = this.#deps;
    for (let times = 0; times < forgetting.times && cache.getByUid(uid) !== undefined; times++) {
      await clock.sleep(forgetting.everyMs);
    }
  }

  /** The narrowest first. */
  #placesOf(namespace: string): string[] {
    const { shared } = this.#deps;
    return shared === undefined || shared === namespace ? [namespace] : [namespace, shared];
  }

  async #findByName(tenant: string, name: string): Promise<T | undefined> {
    for (const namespace of this.#placesOf(tenant)) {
      const known = this.#deps.cache.get(`${namespace}/${name}`);
      const found = known ?? (await this.#live({ namespace, name }, tenant));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** The search takes as long for an object of another namespace as for one that does not exist. */
  async #findById(namespace: string, uid: string): Promise<T | undefined> {
    const places = this.#placesOf(namespace);
    const probe = (): T | undefined => {
      const found = this.#deps.cache.getByUid(uid);
      return places.includes(found?.metadata.namespace ?? '') ? found : undefined;
    };
    const known = probe();
    if (known !== undefined) return known;
    const key = `${namespace}/${uid}`;
    if (this.#unknown.has(key)) return undefined;
    const searches = places.map((place) => this.#catchUp.find({ namespace: place, tenant: namespace }, probe));
    const found = (await Promise.all(searches)).find((one) => one !== undefined);
    if (found === undefined) this.#unknown.add(key);
    return found;
  }
}
