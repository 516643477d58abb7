import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { CacheReader } from '../../../lib/informer/cache.ts';
import { type KubeClient, type Pod, pods } from '../../../lib/kube/index.ts';
import { askServer } from '../../runtime/ask-server.ts';
import { decidePod, type PodDecision } from '../decide.ts';

interface AskPodDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly pods: Pick<CacheReader<Pod>, 'get' | 'remember'>;
  readonly clock: Clock;
}

/**
 * The fate of the pod that the status names. The server is asked before the pod counts as gone, lost or failed: a watch may be
 * behind.
 */
export async function askPod(
  { kube, pods: cache, clock }: AskPodDeps,
  { metadata: { namespace = '' }, status }: AgentExecution,
  uid: string,
): Promise<PodDecision> {
  const name = status?.pod?.name ?? '';
  const decide = (pod: Pod | undefined): PodDecision => decidePod(isOf(uid, pod) ? pod : undefined, clock.now());
  const cached = cache.get(`${namespace}/${name}`);
  const known = decide(cached);
  if (known.kind === 'runs' || known.kind === 'waits') return known;
  const latest = await askServer({ kube, resource: pods, cache }, { namespace, name });
  // One that ended before it was deleted has ended as it did.
  const hasEnded = isOf(uid, cached) && !isNeverStarted(known);
  return hasEnded && !isOf(uid, latest) ? known : decide(latest);
}

const isOf = (uid: string, pod: Pod | undefined): pod is Pod => pod?.metadata.uid === uid;
const isNeverStarted = (decision: PodDecision): boolean =>
  decision.kind === 'failed' && decision.why.reason === 'NeverStarted';
