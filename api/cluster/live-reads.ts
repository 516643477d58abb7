import type { Clock } from '../../lib/clock.ts';
import { createFairPool } from '../../lib/fair-pool.ts';
import type { CacheReader } from '../../lib/informer/index.ts';
import { findObject, type KubeClient, type KubeObject, type ObjectRef, type Resource } from '../../lib/kube/index.ts';
import { createSharedReads } from '../../lib/shared-reads.ts';

/** Reads single objects from the server, for what the cache does not know by name. */
export interface LiveReads<T extends KubeObject> {
  /**
   * Undefined where it is not there. A found object enters the cache. `tenant` is the caller's namespace, to which the
   * read is charged: AppError `unavailable` where that has too many in line.
   */
  read(ref: ObjectRef, tenant: string): Promise<T | undefined>;
}

interface LiveReadsDeps<T extends KubeObject> {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly clock: Clock;
  readonly resource: Resource<T>;
  readonly cache: Pick<CacheReader<T>, 'remember'>;
}

/**
 * A small part of the connections to the server, so that names that do not exist cannot take them all. The wait ends
 * when the client's does.
 */
const limits = { size: 10, waiting: 1_250, waitMs: 20_000 };

/** Questions of one tenant for the same object that wait at the same time are one, and none joins an earlier read. */
export function createLiveReads<T extends KubeObject>({
  kube,
  clock,
  resource,
  cache,
}: LiveReadsDeps<T>): LiveReads<T> {
  const pool = createFairPool({ ...limits, clock });
  const read = createSharedReads(async (key): Promise<T | undefined> => {
    const [tenant = '', namespace = '', ...name] = key.split('/');
    const ref = { namespace, name: name.join('/') };
    const object = await pool.run({ tenant }, () => findObject(kube, resource, ref));
    if (object !== undefined) cache.remember(object);
    return object;
  });
  // One tenant's question in another one's line would wait as long as that.
  return { read: ({ namespace = '', name }, tenant) => read(`${tenant}/${namespace}/${name}`) };
}
