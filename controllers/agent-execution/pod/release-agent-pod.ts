import { labels } from '../../../crds/labels.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { CacheReader } from '../../../lib/informer/cache.ts';
import type { KubeClient, Pod } from '../../../lib/kube/index.ts';
import { stopPod } from '../../step-pods/release-pod.ts';
import { agentPodName } from './agent-pod.ts';

export interface ReleaseDeps {
  readonly kube: Pick<KubeClient, 'delete'>;
  readonly pods: Pick<CacheReader<Pod>, 'get'>;
}

/** Deletes the pod of an execution. Its logs are no output: the conversation is with the API. */
export async function releaseAgentPod({ kube, pods }: ReleaseDeps, execution: AgentExecution): Promise<void> {
  const { namespace = '', uid: owner } = execution.metadata;
  const name = namedPod(execution);
  const cached = pods.get(`${namespace}/${name}`)?.metadata;
  if (cached === undefined || cached.labels?.[labels.executionUid] !== owner) return;
  const { uid, deletionTimestamp } = cached;
  if (uid !== undefined && deletionTimestamp === undefined) await stopPod(kube, { name, namespace, uid }, 'graceful');
}

/** The pod of the status, or the one that was made and is not in the status yet. */
function namedPod(execution: AgentExecution): string {
  const { pod } = execution.status ?? {};
  return pod?.uid === undefined ? agentPodName(execution, pod?.attempt ?? 1) : pod.name;
}
