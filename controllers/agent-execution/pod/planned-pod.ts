import type { AgentMount, AgentSpec } from '../../../crds/schema/agent.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { Volume } from '../../../crds/schema/volume.ts';
import { mountsOf } from '../../../lib/agent/mounts.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { CacheReader } from '../../../lib/informer/cache.ts';
import { volumes as volumeKind } from '../../../lib/kinds.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import type { NodeConfig } from '../../../lib/node-config/index.ts';
import { askServer } from '../../runtime/ask-server.ts';
import { isNew } from '../decide.ts';
import { isOfVolume, planPod } from './plan-pod.ts';

interface PlannedPodDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly volumes: Pick<CacheReader<Volume>, 'get' | 'remember'>;
  readonly nodeConfig: Pick<NodeConfig, 'runtimes' | 'isolation'>;
  readonly clock: Clock;
}

/** The plan of the pod. Nothing fails for a volume before the server was asked for it. */
export async function plannedPod(deps: PlannedPodDeps, execution: AgentExecution, agent: AgentSpec) {
  const { namespace = '' } = execution.metadata;
  const { nodeConfig, clock } = deps;
  const plan = (volumeOf: (name: string) => Volume | undefined) =>
    planPod({ execution, agent, nodeConfig, volumeOf, isNew: isNew(execution, clock.now()) });
  const planned = plan((name) => deps.volumes.get(`${namespace}/${name}`));
  if (planned.kind !== 'failed' || !isOfVolume(planned.why)) return planned;
  const asked = await askVolumes(deps, namespace, mountsOf(agent, execution.spec));
  return plan((name) => asked.get(name));
}

/** The volumes of the mounts as the server has them, by name. */
async function askVolumes(
  { kube, volumes: cache }: PlannedPodDeps,
  namespace: string,
  mounts: readonly AgentMount[],
): Promise<ReadonlyMap<string, Volume>> {
  const found = new Map<string, Volume>();
  for (const { volume: name } of mounts) {
    const volume = await askServer({ kube, resource: volumeKind, cache }, { namespace, name });
    if (volume !== undefined) found.set(name, volume);
  }
  return found;
}
