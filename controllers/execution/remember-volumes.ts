import type { Volume } from '../../crds/schema/volume.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { volumes } from '../../lib/kinds.ts';
import { findObject, type KubeClient } from '../../lib/kube/index.ts';

interface RememberDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly caches: { readonly volumes: Pick<CacheReader<Volume>, 'get' | 'remember'> };
}

/**
 * Reads the volumes of an execution that has begun, where the cache does not show them ready. All were ready before the
 * first state, so the cache of a replica that has taken over may be behind, and a state must not fail for that (D8).
 */
export async function rememberVolumes(
  { kube, caches }: RememberDeps,
  { metadata, status }: Pick<WorkflowExecution, 'metadata' | 'status'>,
): Promise<void> {
  const { namespace = '' } = metadata;
  for (const { volume: name } of Object.values(status?.volumes ?? {})) {
    if (caches.volumes.get(`${namespace}/${name}`)?.status?.phase === 'ready') continue;
    const volume = await findObject(kube, volumes, { namespace, name });
    if (volume !== undefined) caches.volumes.remember(volume);
  }
}
