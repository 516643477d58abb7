import type { KubeClient } from './client.ts';
import { createUnlessExists } from './create-unless-exists.ts';
import { findObject } from './find-object.ts';
import type { KubeObject } from './objects.ts';
import type { Resource } from './resource.ts';

/** Whether the object is there and is ours, or another one has its name. */
export type Own<T> = { readonly kind: 'ours'; readonly object?: T } | { readonly kind: 'foreign' };

/**
 * Creates an object whose name anybody can foresee. What stands under the name already counts only where `isOurs`, by
 * marks that nobody else may write. `object` is absent where it was deleted meanwhile.
 */
export async function createOwn<T extends KubeObject>(
  kube: Pick<KubeClient, 'create' | 'get'>,
  resource: Resource<T>,
  wanted: T,
  isOurs: (there: T) => boolean,
): Promise<Own<T>> {
  const created = await createUnlessExists(kube, resource, wanted);
  if (created !== undefined) return { kind: 'ours', object: created };
  const { namespace, name = '' } = wanted.metadata;
  const there = await findObject(kube, resource, { namespace, name });
  if (there === undefined) return { kind: 'ours' };
  return isOurs(there) ? { kind: 'ours', object: there } : { kind: 'foreign' };
}
