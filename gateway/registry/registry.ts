import { isUid } from '../../crds/uid.ts';
import { type Registered, registeredNameOf } from '../../lib/api-spec/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { createFairPool } from '../../lib/fair-pool.ts';
import { HttpError } from '../../lib/http/http-error.ts';
import {
  findWanted,
  isAlreadyExists,
  isConflict,
  type KubeClient,
  type KubeObject,
  type Resource,
} from '../../lib/kube/index.ts';
import { createUnknownIds } from '../../lib/unknown-ids.ts';
import type { Tenancy, TenantCaller } from '../identity/tenancy.ts';
import type { RegisteredEvents } from './change-events.ts';
import { kubeRefusal, notFound, taken } from './refusals.ts';
import type { ReplicaNews } from './replica-news.ts';

type Object = KubeObject & Registered;

/** Objects of one kind, as operators register, list and delete them (spec 3 §4.1). */
export interface Registry<T extends Object> {
  /** Those that a tenant sees, its own and the shared ones; of each what the cache keeps. */
  visible(tenant: string | undefined): readonly T[];
  /** Also what another replica has made a moment ago. @throws HttpError 404 for what the tenant does not see. */
  find(tenant: string | undefined, id: string): Promise<T>;
  /** @throws HttpError 409 for a name that the caller sees already, 400, 403 and 429 as the API server refuses it. */
  create(caller: TenantCaller, object: T): Promise<T>;
  /**
   * Resolves when no replica knows it any more.
   * @throws HttpError 404 as `find`, 403 for a shared object and a caller with a tenant, 503 as `ReplicaNews`.
   */
  remove(caller: TenantCaller, id: string): Promise<void>;
}

interface RegistryDeps<T extends Object> {
  readonly kube: Pick<KubeClient, 'create' | 'delete' | 'get' | 'list'>;
  readonly clock: Clock;
  readonly news: ReplicaNews;
  readonly tenancy: Tenancy;
  readonly resource: Resource<T>;
  readonly cache: {
    getByUid(uid: string): T | undefined;
    byIndex(index: 'namespace', key: string): readonly T[];
    remember(object: T): void;
  };
  /** Audit events of its changes; undefined where its routes tell of them, or none tells. */
  readonly changes: RegisteredEvents | undefined;
  /** All that share the names of this kind, of one namespace. Default: those of this kind. */
  readonly rivals?: (namespace: string) => readonly Registered[];
}

interface LiveDeps<T extends KubeObject> {
  readonly kube: Pick<KubeClient, 'get' | 'list'>;
  readonly clock: Clock;
  readonly resource: Resource<T>;
}

/**
 * The object of a uid in one of these namespaces, which another replica may have made a moment ago, from the server. It lists
 * metadata alone, few lists at a time. Ids that the server did not have are known for a minute: it makes them at random, so
 * that none can come to be (ADR 0025).
 */
type FindLive<T> = (places: readonly string[], uid: string) => Promise<T | undefined>;

const lists = { size: 2, waiting: 64, waitMs: 5_000 };
const unknownIds = { capacity: 10_000, lifeMs: 60_000 };

function createFindLive<T extends KubeObject>({ kube, clock, resource }: LiveDeps<T>): FindLive<T> {
  const pool = createFairPool({ ...lists, clock });
  const unknown = createUnknownIds(clock, unknownIds);
  return async (places, uid) => {
    const [tenant = ''] = places;
    const key = JSON.stringify([places, uid]);
    const isWanted = ({ metadata }: KubeObject): boolean => metadata.uid === uid;
    return pool.run({ tenant }, async () => {
      if (unknown.has(key)) return undefined;
      for (const namespace of places) {
        const [found] = await findWanted(kube, resource, { namespace, isWanted });
        if (found !== undefined) return found;
      }
      unknown.add(key);
      return undefined;
    });
  };
}

export function createRegistry<T extends Object>(deps: RegistryDeps<T>): Registry<T> {
  const { kube, news, tenancy, resource, cache } = deps;
  const rivals = deps.rivals ?? ((namespace) => cache.byIndex('namespace', namespace));
  const visible = (tenant: string | undefined): readonly T[] =>
    tenancy.visibleTo(tenant).flatMap((place) => cache.byIndex('namespace', place));
  const findLive = createFindLive(deps);
  const find = async (tenant: string | undefined, id: string): Promise<T> => {
    const uid = id.toLowerCase();
    if (!isUid(uid)) throw notFound();
    const places = tenancy.visibleTo(tenant);
    const found = cache.getByUid(uid) ?? (await findLive(places, uid));
    if (found !== undefined && places.includes(found.metadata.namespace ?? '')) return found;
    throw notFound();
  };
  return {
    visible,
    find,
    async create(caller, object) {
      const name = registeredNameOf(object);
      const seen = tenancy.visibleTo(caller.tenant).flatMap(rivals);
      if (seen.some((rival) => registeredNameOf(rival) === name)) throw taken(name);
      deps.changes?.events.require();
      const created = await kube.create(resource, object).catch((error: unknown) => {
        throw isAlreadyExists(error) ? taken(name) : kubeRefusal(error);
      });
      cache.remember(created);
      const uid = created.metadata.uid ?? '';
      await deps.changes?.events.tell(deps.changes.made, caller, { id: uid, name });
      await news.made(uid);
      return created;
    },
    remove: async (caller, id) => remove(deps, caller, await find(caller.tenant, id)),
  };
}

async function remove<T extends Object>(deps: RegistryDeps<T>, caller: TenantCaller, object: T): Promise<void> {
  const { kube, news, tenancy, resource, changes } = deps;
  const { namespace, name, uid = '' } = object.metadata;
  if (namespace !== tenancy.namespaceOf(caller)) {
    throw new HttpError({ code: 'forbidden', message: 'all tenants share it; an svc:admin without tenant deletes it' });
  }
  changes?.events.require();
  const isDeleted = await kube.delete(resource, { namespace, name }, { uid }).catch((error: unknown) => {
    if (isConflict(error)) return false;
    throw error;
  });
  if (!isDeleted) throw notFound();
  await changes?.events.tell(changes.gone, caller, { id: uid, name: registeredNameOf(object) });
  await news.gone(uid);
}
