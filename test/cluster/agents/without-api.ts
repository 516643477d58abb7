import { findObject, type KubeClient, pods } from '../../../lib/kube/index.ts';
import { type Deployment, deployments } from '../harness/installed.ts';
import { waitForNone, waitForObject } from '../harness/wait.ts';

const ref = { namespace: 'windlass-system', name: 'windlass-api' };
const labelSelector = 'app.kubernetes.io/name=windlass,app.kubernetes.io/component=api';

/**
 * Takes the installed API away, so that only the test begins a conversation or reports an outcome. Returns a function
 * that puts it back.
 */
export async function withoutApi(kube: KubeClient): Promise<() => Promise<void>> {
  const installed = await findObject(kube, deployments, ref);
  const replicas = installed?.spec.replicas ?? 0;
  if (replicas === 0) return async () => undefined;
  await kube.mergePatch(deployments, ref, { spec: { replicas: 0 } });
  await waitForNone(kube, { resource: pods, namespace: ref.namespace, labelSelector }, { timeoutMs: 120_000 });
  return async () => {
    await kube.mergePatch(deployments, ref, { spec: { replicas } });
    const isBack = ({ status }: Deployment): boolean => (status?.availableReplicas ?? 0) >= 1;
    await waitForObject(kube, { resource: deployments, ...ref }, isBack, { timeoutMs: 120_000 });
  };
}
