import { labels } from '../../crds/labels.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import {
  createOwn,
  isForbidden,
  isNotFound,
  isQuotaExceeded,
  isQuotaUncounted,
  type KubeClient,
  KubeError,
  type Pod,
  pods,
} from '../../lib/kube/index.ts';
import { rejectionOf } from '../step-pods/create-pod.ts';
import { type AgentPodSettings, buildAgentPod } from './agent-pod.ts';
import type { Reasoned } from './decide.ts';
import type { AgentPodPlan } from './plan-pod.ts';

export interface MakePodDeps {
  readonly kube: Pick<KubeClient, 'create' | 'get'>;
  readonly pods: Pick<CacheReader<Pod>, 'remember'>;
  readonly settings: AgentPodSettings;
}

export type MadePod =
  | { readonly kind: 'made'; readonly pod: Pod }
  | { readonly kind: 'waits'; readonly why: Reasoned }
  | { readonly kind: 'failed'; readonly why: Reasoned };

/** Makes the pod of an attempt, or finds that it was made before. Only the controllers write the label with the uid. */
export async function makePod(
  { kube, pods: cache, settings }: MakePodDeps,
  execution: AgentExecution,
  attempt: number,
  plan: AgentPodPlan,
): Promise<MadePod> {
  const { uid } = execution.metadata;
  const wanted = buildAgentPod(execution, attempt, plan, settings);
  const name = wanted.metadata.name ?? '';
  try {
    const made = await createOwn(kube, pods, wanted, ({ metadata }) => metadata.labels?.[labels.executionUid] === uid);
    if (made.kind === 'foreign') {
      const message = `a pod named ${name} that Windlass did not make is in the way; delete it`;
      return { kind: 'failed', why: { reason: 'PodRejected', message } };
    }
    // It was made and deleted in between: the next look makes it out.
    if (made.object === undefined)
      return { kind: 'waits', why: { reason: 'PodDeleted', message: `pod ${name} is gone` } };
    cache.remember(made.object);
    return { kind: 'made', pod: made.object };
  } catch (error) {
    return refused(error);
  }
}

/** The API server's words for a pod whose RuntimeClass the cluster does not have. */
const lacksRuntimeClass = /RuntimeClass "[^"]*" not found/;

/** A quota may have room again, and a right may be granted; the rest never passes. */
function refused(error: unknown): MadePod {
  const rejection = rejectionOf(error);
  if (rejection !== undefined) return { kind: 'failed', why: rejection };
  if (!(error instanceof KubeError) || isNotFound(error)) throw error;
  const { serverMessage: message } = error;
  const isFull = isQuotaExceeded(error) || isQuotaUncounted(error);
  if (isFull) return { kind: 'waits', why: { reason: 'QuotaExceeded', message } };
  if (isForbidden(error) && lacksRuntimeClass.test(message)) {
    return { kind: 'failed', why: { reason: 'IsolationUnavailable', message } };
  }
  if (isForbidden(error)) return { kind: 'waits', why: { reason: 'Forbidden', message } };
  throw error;
}
