import type { KubeClient } from './client.ts';
import { isAlreadyExists } from './kube-error.ts';
import type { KubeObject } from './objects.ts';
import type { Resource } from './resource.ts';

/** The object as the server stored it; undefined where one of its name is there already, whatever that one holds. */
export async function createUnlessExists<T extends KubeObject>(
  kube: Pick<KubeClient, 'create'>,
  resource: Resource<T>,
  object: T,
): Promise<T | undefined> {
  try {
    return await kube.create(resource, object);
  } catch (error) {
    if (isAlreadyExists(error)) return undefined;
    throw error;
  }
}
