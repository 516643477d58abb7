import { isConflict, type KubeClient, type KubeObject, type Resource } from '../../lib/kube/index.ts';

/** Deletes the object that was read. A later one of its name has another uid, and stays. */
export async function deleteAsRead(
  kube: Pick<KubeClient, 'delete'>,
  resource: Resource,
  { metadata: { name = '', namespace = '', uid } }: KubeObject,
): Promise<void> {
  try {
    await kube.delete(resource, { name, namespace }, uid === undefined ? {} : { uid });
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
}
