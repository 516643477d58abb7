import type { CallOptions, KubeClient } from './client.ts';
import { isAbsent } from './kube-error.ts';
import type { KubeObject, ObjectRef } from './objects.ts';
import { listPages } from './list-pages.ts';
import { metadataOf, type Resource } from './resource.ts';

/** The object, or undefined where there is none. A server that lacks the whole kind is trouble, and throws. */
export async function findObject<T extends KubeObject>(
  kube: Pick<KubeClient, 'get'>,
  resource: Resource<T>,
  ref: ObjectRef,
  options?: CallOptions,
): Promise<T | undefined> {
  try {
    return await kube.get(resource, ref, options);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/**
 * The objects of a namespace that `isWanted` by their metadata, each read whole by itself: what else is in the namespace
 * may be of any number and size.
 */
export async function findWanted<T extends KubeObject>(
  kube: Pick<KubeClient, 'get' | 'list'>,
  resource: Resource<T>,
  { namespace, isWanted }: { readonly namespace: string; readonly isWanted: (object: KubeObject) => boolean },
): Promise<T[]> {
  const found: T[] = [];
  for await (const { items } of listPages((paged) => kube.list(metadataOf(resource), paged), { namespace })) {
    for (const { metadata } of items.filter(isWanted)) {
      const object = await findObject(kube, resource, { namespace, name: metadata.name ?? '' });
      if (object?.metadata.uid === metadata.uid && object !== undefined) found.push(object);
    }
  }
  return found;
}

/** The object as the server has it now; undefined where it is gone, also when another one has its name. */
export async function findAgain<T extends KubeObject>(
  kube: Pick<KubeClient, 'get'>,
  resource: Resource<T>,
  { metadata }: T,
): Promise<T | undefined> {
  const found = await findObject(kube, resource, { namespace: metadata.namespace, name: metadata.name ?? '' });
  return found?.metadata.uid === metadata.uid ? found : undefined;
}
