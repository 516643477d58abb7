import type { CacheReader } from '../../lib/informer/cache.ts';
import { findObject, type KubeClient, type KubeObject, type ObjectRef, type Resource } from '../../lib/kube/index.ts';

/** One kind: where its objects are kept, and what remembers those that are read. */
interface Asked<T extends KubeObject> {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly resource: Resource<T>;
  readonly cache: Pick<CacheReader<T>, 'remember'>;
}

/**
 * The object as the API server has it now, for no verdict may rest on a cache that is behind (D8). The cache has it from then
 * on. Undefined where it is gone.
 */
export async function askServer<T extends KubeObject>(
  { kube, resource, cache }: Asked<T>,
  ref: ObjectRef,
): Promise<T | undefined> {
  const found = await findObject(kube, resource, ref);
  if (found !== undefined) cache.remember(found);
  return found;
}
