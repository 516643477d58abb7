import type { AgentMount } from '../../../crds/schema/agent.ts';
import type { Volume } from '../../../crds/schema/volume.ts';
import type { CacheReader } from '../../../lib/informer/cache.ts';
import { volumes } from '../../../lib/kinds.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import { askServer } from '../../runtime/ask-server.ts';

/** The volumes of the mounts as the server has them, by name. */
export async function askVolumes(
  kube: Pick<KubeClient, 'get'>,
  cache: Pick<CacheReader<Volume>, 'remember'>,
  { namespace, mounts }: { readonly namespace: string; readonly mounts: readonly AgentMount[] },
): Promise<ReadonlyMap<string, Volume>> {
  const found = new Map<string, Volume>();
  for (const { volume: name } of mounts) {
    const volume = await askServer({ kube, resource: volumes, cache }, { namespace, name });
    if (volume !== undefined) found.set(name, volume);
  }
  return found;
}
