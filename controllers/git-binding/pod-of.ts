import { labels } from '../../crds/labels.ts';
import type { GitBinding } from '../../crds/schema/git-binding.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { type KubeClient, type Pod, pods } from '../../lib/kube/index.ts';
import { askServer } from '../runtime/ask-server.ts';
import { podProblem } from '../step-pods/pod-problem.ts';
import type { PodReader } from '../step-pods/pod-reader.ts';
import { begunAt } from '../step-pods/pod-waiting.ts';
import { gitLimits } from './limits.ts';

interface PodOfDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly pods: Pick<CacheReader<Pod>, 'get' | 'remember'>;
  readonly reader: Pick<PodReader, 'outcomeOf'>;
}

/**
 * The pod of an operation. The server is asked before it counts as gone, failed or never started, for a watch may be behind
 * (D8). One that failed before it was deleted has failed.
 */
export async function podOf(deps: PodOfDeps, { metadata }: GitBinding, name: string): Promise<Pod | undefined> {
  const { kube, pods: cache, clock } = deps;
  const { namespace = '', uid } = metadata;
  const isOurs = (pod: Pod | undefined): pod is Pod => pod?.metadata.labels?.[labels.executionUid] === uid;
  const known = cache.get(`${namespace}/${name}`);
  if (isOurs(known) && !isVerdictDue(deps, known)) return known;
  const latest = await askServer({ kube, resource: pods, cache }, { namespace, name });
  if (isOurs(latest)) return latest;
  return isOurs(known) && podProblem(known, clock.now()) !== undefined ? known : undefined;
}

const isVerdictDue = ({ clock, reader }: PodOfDeps, pod: Pod): boolean =>
  podProblem(pod, clock.now()) !== undefined ||
  (reader.outcomeOf(pod) === undefined && isAwaited(pod) && clock.now() >= neverStartedAt(pod));

/** Whether a pod's container is still to begin. */
export const isAwaited = (pod: Pod): boolean =>
  begunAt(pod) === undefined && pod.metadata.deletionTimestamp === undefined;

/** When a pod that has not begun never will, in milliseconds since the epoch. */
export const neverStartedAt = ({ metadata }: Pod): number =>
  Date.parse(metadata.creationTimestamp ?? '') + gitLimits.queueMs;
