import { labels } from '../../../crds/labels.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { CacheReader } from '../../../lib/informer/cache.ts';
import { isForbidden, type Pod } from '../../../lib/kube/index.ts';
import { rejectionOf } from '../../step-pods/create-pod.ts';
import { makeOwnPod, type OwnPodDeps } from '../../step-pods/own-pod.ts';
import { waitOfRefusal } from '../../step-pods/wait-of-refusal.ts';
import type { Reasoned } from '../decide.ts';
import { type AgentPodSettings, buildAgentPod } from './agent-pod.ts';
import type { AgentPodPlan } from './plan-pod.ts';

interface MakePodDeps extends OwnPodDeps {
  readonly pods: Pick<CacheReader<Pod>, 'get' | 'remember'>;
  readonly settings: AgentPodSettings;
}

/** Why the API server refuses an object for now. */
export interface Wait {
  readonly why: Reasoned;
  /** The execution is in the line of a full quota, which wakes it. */
  readonly inLine?: boolean;
}

type MadePod =
  | { readonly kind: 'made'; readonly pod: Pod }
  | (Wait & { readonly kind: 'waits' })
  | { readonly kind: 'failed'; readonly why: Reasoned };

/** Makes the pod of an attempt, or finds that it was made before. Only the controllers write the label with the uid. */
export async function makePod(
  deps: MakePodDeps,
  execution: AgentExecution,
  attempt: number,
  plan: AgentPodPlan,
): Promise<MadePod> {
  const { uid } = execution.metadata;
  const wanted = buildAgentPod(execution, attempt, plan, deps.settings);
  const name = wanted.metadata.name ?? '';
  try {
    const made = await makeOwnPod(
      deps,
      execution,
      wanted,
      ({ metadata }) => metadata.labels?.[labels.executionUid] === uid,
    );
    if (made.kind === 'foreign') {
      const message = `a pod named ${name} that Windlass did not make is in the way; delete it`;
      return { kind: 'failed', why: { reason: 'PodRejected', message } };
    }
    // It was made and deleted in between: the next reconcile sees it.
    if (made.object === undefined)
      return { kind: 'waits', why: { reason: 'PodDeleted', message: `pod ${name} is gone` } };
    deps.pods.remember(made.object);
    return { kind: 'made', pod: made.object };
  } catch (error) {
    return refused(error);
  }
}

/** A wait for an object that the API server may take later. @throws any other error */
export function waits(error: unknown): Wait & { readonly kind: 'waits' } {
  const wait = waitOfRefusal(error);
  if (wait === undefined) throw error;
  const { reason, message, inLine } = wait;
  return { kind: 'waits', why: { reason, message }, inLine };
}

/** The API server's words for a pod whose RuntimeClass the cluster does not have. */
const lacksRuntimeClass = /RuntimeClass "[^"]*" not found/;

/** A quota may have room again, and a right may be granted; the rest never passes. */
function refused(error: unknown): MadePod {
  const rejection = rejectionOf(error);
  if (rejection !== undefined) return { kind: 'failed', why: rejection };
  if (isForbidden(error) && lacksRuntimeClass.test(error.serverMessage)) {
    return { kind: 'failed', why: { reason: 'IsolationUnavailable', message: error.serverMessage } };
  }
  return waits(error);
}
