import {
  defineResource,
  findObject,
  isNotFound,
  type KubeClient,
  type KubeObject,
  pods,
} from '../../../lib/kube/index.ts';
import type { Identity } from './api-proxy.ts';
import { waitForNone, waitForObject } from './wait.ts';

export interface Deployment extends KubeObject {
  readonly spec: { readonly replicas?: number };
  readonly status?: { readonly replicas?: number; readonly availableReplicas?: number };
}

export const deployments = defineResource<Deployment>({
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
});

const ref = { namespace: 'windlass-system', name: 'windlass-controllers' };

/** Replicas that the chart gives the controllers and the relay; what is put back after a test that scaled them down. */
const shippedReplicas = 2;

/** Whether the chart's controllers are there. Those that another test brought back are waited for until one works. */
export async function installedControllersWork(kube: KubeClient): Promise<boolean> {
  const installed = await findObject(kube, deployments, ref);
  if (installed === undefined || installed.spec.replicas === 0) return false;
  const works = ({ status }: Deployment): boolean => (status?.availableReplicas ?? 0) > 0;
  await waitForObject(kube, { resource: deployments, ...ref }, works, { timeoutMs: 120_000 });
  return true;
}

/** The user of installed controllers: their roles and the admission policies speak of this user. */
const serviceAccount = {
  user: `system:serviceaccount:${ref.namespace}:${ref.name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${ref.namespace}`, 'system:authenticated'],
};

/**
 * The user of a test's controllers: the chart's service account where the chart is installed, else the administrator.
 */
export async function controllersIdentity(kube: KubeClient): Promise<Identity | undefined> {
  return (await findObject(kube, deployments, ref)) && serviceAccount;
}

/** Processes of the chart that act on objects of all tenants by themselves, those of a test included. */
type ActingProcess = 'controllers' | 'relay';

/** Takes installed processes away, so that those of a test are alone; nothing happens where none are installed. */
export async function scaleInstalledTo(
  kube: KubeClient,
  replicas: number,
  component: ActingProcess = 'controllers',
): Promise<void> {
  const of = { namespace: ref.namespace, name: `windlass-${component}` };
  if (!(await askForReplicas(kube, of, replicas))) return;
  const reached = ({ status }: Deployment): boolean =>
    replicas === 0 ? (status?.replicas ?? 0) === 0 : (status?.availableReplicas ?? 0) >= replicas;
  await waitForObject(kube, { resource: deployments, ...of }, reached, { timeoutMs: 120_000 });
  if (replicas > 0) return;
  // A pod that is stopping no longer counts as a replica and may still finish what it has begun.
  const labelSelector = `app.kubernetes.io/name=windlass,app.kubernetes.io/component=${component}`;
  await waitForNone(kube, { resource: pods, namespace: ref.namespace, labelSelector }, { timeoutMs: 60_000 });
}

export const restoreInstalled = (kube: KubeClient, component: ActingProcess = 'controllers'): Promise<void> =>
  scaleInstalledTo(kube, shippedReplicas, component);

/** Brings the installed controllers back without waiting for them: the next file begins while they start. */
export async function bringInstalledBack(kube: KubeClient): Promise<void> {
  await askForReplicas(kube, ref, shippedReplicas);
}

/** Answers whether there is such a Deployment. */
async function askForReplicas(kube: KubeClient, of: typeof ref, replicas: number): Promise<boolean> {
  try {
    await kube.mergePatch(deployments, of, { spec: { replicas } });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
