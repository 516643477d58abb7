import type { KubeClient } from './client.ts';
import { createUnlessExists } from './create-unless-exists.ts';
import { findObject } from './find-object.ts';
import type { KubeObject } from './objects.ts';
import type { Resource } from './resource.ts';

/** Whether the object is there and is ours, or another one has its name. */
export type Own<T> = { readonly kind: 'ours'; readonly object?: T } | { readonly kind: 'foreign' };

/**
 * Creates an object whose name every user can foresee. An existing object of the name counts only where `isOurs`, by
 * marks that only we may write. `object` is absent where it was deleted meanwhile.
 */
export async function createOwn<T extends KubeObject>(
  kube: Pick<KubeClient, 'create' | 'get'>,
  resource: Resource<T>,
  wanted: T,
  isOurs: (there: T) => boolean,
): Promise<Own<T>> {
  const created = await createUnlessExists(kube, resource, wanted);
  if (created !== undefined) return { kind: 'ours', object: created };
  const there = await underName(kube, resource, wanted);
  return there === undefined ? { kind: 'ours' } : judged(there, isOurs);
}

/**
 * The same for an object that may have been made before. Kubernetes charges a quota for each create, and takes the
 * charge back up to five minutes later where the object turns out to exist. A full quota refuses even what exists.
 */
export async function takeOrCreateOwn<T extends KubeObject>(
  kube: Pick<KubeClient, 'create' | 'get'>,
  resource: Resource<T>,
  wanted: T,
  isOurs: (there: T) => boolean,
): Promise<Own<T>> {
  const there = await underName(kube, resource, wanted);
  return there === undefined ? createOwn(kube, resource, wanted, isOurs) : judged(there, isOurs);
}

const underName = <T extends KubeObject>(
  kube: Pick<KubeClient, 'get'>,
  resource: Resource<T>,
  { metadata: { namespace, name = '' } }: T,
): Promise<T | undefined> => findObject(kube, resource, { namespace, name });

const judged = <T extends KubeObject>(there: T, isOurs: (there: T) => boolean): Own<T> =>
  isOurs(there) ? { kind: 'ours', object: there } : { kind: 'foreign' };
