import { labels } from '../../crds/labels.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import {
  type createOwn,
  isOutOfBounds,
  type KubeClient,
  KubeError,
  type KubeObject,
  type Pod,
  pods,
} from '../../lib/kube/index.ts';
import type { Failure, StepOwner, StepPodName, StepPlan } from './step.ts';
import type { QuotaGate } from './quota-gate.ts';
import { buildPod, type PodSettings } from './template.ts';

export interface CreatePodDeps {
  /** Creates the pod, or takes the one that was made before. */
  readonly own: typeof createOwn;
  readonly kube: Pick<KubeClient, 'create' | 'get' | 'listAll'>;
  readonly pods: Pick<CacheReader<Pod>, 'remember'>;
  readonly podSettings: PodSettings;
  /** Everything that counts in a quota is made through it. */
  readonly quota: Pick<QuotaGate, 'create'>;
}

/**
 * Makes the pod of a step, or finds that it was made before. Gives back why the API server will never take it; what may
 * pass, such as a full quota, is thrown.
 */
export async function createPod(
  deps: CreatePodDeps,
  owner: StepOwner,
  pod: StepPodName,
  plan: StepPlan,
): Promise<Failure | undefined> {
  const { namespace } = owner;
  const wish = { namespace, resource: pods.plural, key: `${namespace}/${owner.name}` };
  const object = buildPod(owner, pod, plan, deps.podSettings);
  try {
    const made = await deps.quota.create(wish, () => deps.own(deps.kube, pods, object, isOf(owner)));
    if (made.kind === 'foreign') return takenByAnother(pod.name);
    if (made.object !== undefined) deps.pods.remember(made.object);
    return undefined;
  } catch (error) {
    const rejection = rejectionOf(error);
    if (rejection === undefined) throw error;
    return rejection;
  }
}

/** Only the controllers write this label on a pod. */
const isOf =
  ({ uid }: StepOwner) =>
  ({ metadata }: KubeObject): boolean =>
    metadata.labels?.[labels.executionUid] === uid;

const takenByAnother = (name: string): Failure => ({
  reason: 'PodRejected',
  message: `a pod named ${name} that Windlass did not make is in the way; delete it`,
});

/**
 * The pod itself is at fault: it breaks Pod Security, a LimitRange, or a quota that wants limits of every pod. A full
 * quota may have room again, and a missing right may be granted: those are tried again.
 */
export function rejectionOf(error: unknown): Failure | undefined {
  if (!(error instanceof KubeError)) return undefined;
  const violation = error.status === 403 && error.serverMessage.includes('violates PodSecurity');
  if (error.status !== 422 && !violation && !isOutOfBounds(error)) return undefined;
  const hint = isOutOfBounds(error) ? '; change resources.cpu or resources.memory of the step' : '';
  return { reason: 'PodRejected', message: `${error.serverMessage}${hint}` };
}
