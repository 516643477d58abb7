import { captureFinalizer } from '../../crds/labels.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { type KubeClient, type PersistentVolumeClaim, type Pod, pods } from '../../lib/kube/index.ts';
import { deleteAsRead } from '../runtime/delete-as-read.ts';

export interface ReleaseClaimDeps {
  readonly kube: Pick<KubeClient, 'delete'>;
  readonly claims: CacheReader<PersistentVolumeClaim>;
  /** By the key of each claim that a pod mounts. */
  readonly pods: CacheReader<Pod, 'claim'>;
}

/**
 * Deletes the finished steps that mount a claim which is being deleted. Finished pods stay otherwise, but Kubernetes
 * keeps a claim, and its data, for as long as there is a pod that names it.
 */
export async function releaseClaim({ kube, claims, pods: cache }: ReleaseClaimDeps, key: string): Promise<void> {
  if (claims.get(key)?.metadata.deletionTimestamp === undefined) return;
  const holding = cache.byIndex('claim', key).filter(isDone);
  await Promise.all(holding.map((pod) => deleteAsRead(kube, pods, pod)));
}

/** The command has ended and its output is stored. */
export const isDone = ({ metadata, status }: Pod): boolean =>
  (status?.phase === 'Succeeded' || status?.phase === 'Failed') &&
  metadata.finalizers?.includes(captureFinalizer) !== true &&
  metadata.deletionTimestamp === undefined;
