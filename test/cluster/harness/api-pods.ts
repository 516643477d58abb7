import { type KubeClient, type Pod, pods } from '../../../lib/kube/index.ts';
import { deployments } from './installed.ts';
import { waitForView } from './wait.ts';

const namespace = 'windlass-system';
const selection = { namespace, labelSelector: 'app.kubernetes.io/name=windlass,app.kubernetes.io/component=api' };

/** Neither deleted nor unready. */
export const isReady = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false);

/** Replicas of the API that are to stay: a rollout that has just ended leaves others, which only end. */
export async function apiPods(kube: KubeClient): Promise<readonly Pod[]> {
  const { items } = await kube.listAll(pods, selection);
  return items.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
}

/** Kills these replicas at once, without their time to shut down. */
export async function killApiPods(kube: KubeClient, killed: readonly Pod[]): Promise<void> {
  const refs = killed.map(({ metadata: { name = '' } }) => ({ namespace, name }));
  await Promise.all(refs.map((ref) => kube.delete(pods, ref, { gracePeriodSeconds: 0 })));
}

/** Resolves when all replicas that the installation asks for are ready, and none of them is one of `killed`. */
export async function freshApiPods(kube: KubeClient, killed: readonly Pod[]): Promise<void> {
  const { spec } = await kube.get(deployments, { namespace, name: 'windlass-api' });
  const count = spec.replicas ?? 1;
  const old = new Set(killed.map(({ metadata }) => metadata.uid));
  await waitForView(
    kube,
    { resource: pods, ...selection },
    (view) =>
      [...view.values()].filter((pod) => isReady(pod) && !old.has(pod.metadata.uid)).length >= count || undefined,
    { timeoutMs: 120_000, what: `${count} ready replicas of the API beside those that were killed` },
  );
}
