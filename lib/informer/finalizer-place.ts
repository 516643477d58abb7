import { findAgain, type KubeClient, type KubeObject, type Resource } from '../kube/index.ts';
import { finalizersKept } from './slim-metadata.ts';

/**
 * The place of a finalizer of ours, by which a patch removes it; undefined where the object does not hold it. Behind as many
 * of others as caches keep, the object is read for it.
 */
export async function finalizerPlace<T extends KubeObject>(
  kube: Pick<KubeClient, 'get'>,
  resource: Resource<T>,
  object: T,
  finalizer: string,
): Promise<number | undefined> {
  const place = placeIn(object, finalizer);
  if (place === undefined || place < finalizersKept) return place;
  const whole = await findAgain(kube, resource, object);
  return whole && placeIn(whole, finalizer);
}

function placeIn({ metadata }: KubeObject, finalizer: string): number | undefined {
  const place = metadata.finalizers?.indexOf(finalizer) ?? -1;
  return place < 0 ? undefined : place;
}
