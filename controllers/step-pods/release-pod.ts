import { captureFinalizer } from '../../crds/labels.ts';
import { type CacheReader, finalizerPlace } from '../../lib/informer/index.ts';
import { type KubeClient, type Pod, pods, unlessChanged } from '../../lib/kube/index.ts';

/** How to stop a pod: with its grace, or without waiting for a kubelet that does not answer. */
export type PodStop = 'graceful' | 'force';

interface PodRef {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

/** Tells a pod to stop. One that is gone, or another one of its name, counts as stopped. */
export async function stopPod(
  kube: Pick<KubeClient, 'delete'>,
  { name, namespace, uid }: PodRef,
  stop: PodStop,
): Promise<void> {
  const grace = stop === 'force' ? { gracePeriodSeconds: 0 } : {};
  await unlessChanged(kube.delete(pods, { name, namespace }, { uid, ...grace }));
}

export interface ReleasePodDeps {
  readonly kube: Pick<KubeClient, 'get' | 'delete' | 'jsonPatch'>;
  readonly pods: CacheReader<Pod>;
  /** Called for a pod that no state waits for any more. */
  readonly onReleased: (uid: string) => void;
}

/** Lets go of a pod whose output is recorded or not wanted. Stops first: what was let go is never looked at again. */
export async function releasePod(deps: ReleasePodDeps, pod: PodRef, stop?: PodStop): Promise<void> {
  if (stop !== undefined) await stopPod(deps.kube, pod, stop);
  const known = deps.pods.get(`${pod.namespace}/${pod.name}`);
  const index = known && (await finalizerPlace(deps.kube, pods, known, captureFinalizer));
  if (index !== undefined) await unlessChanged(removeFinalizer(deps, pod, index));
  deps.onReleased(pod.uid);
}

async function removeFinalizer(deps: ReleasePodDeps, { name, namespace, uid }: PodRef, index: number): Promise<void> {
  const path = `/metadata/finalizers/${index}`;
  const released = await deps.kube.jsonPatch(pods, { name, namespace }, [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path, value: captureFinalizer },
    { op: 'remove', path },
  ]);
  deps.pods.remember(released);
}
