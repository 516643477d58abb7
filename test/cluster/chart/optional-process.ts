import { afterAll, beforeAll } from 'vitest';
import { type KubeClient, type KubeObject, namespaces, type Pod, type Role } from '../../../lib/kube/index.ts';
import { clusterNames } from '../../../lib/tenant/names.ts';
import { connect } from '../harness/cluster.ts';
import { makeForeignNamespace } from './release.ts';
import { type Deployment, find, namesOf } from './rendering.ts';

/** A process that a release may leave out. */
type Component = 'gateway' | 'relay';

const tenantRoles = { gateway: clusterNames.tenantGateway, relay: clusterNames.tenantRelay } as const;

/** The account of a process for the tenants, of a release with the tenant acme. */
export const tenantAccountOf = (objects: KubeObject[], component: Component) => ({
  isThere: namesOf(objects, 'ServiceAccount').includes(clusterNames[component]),
  binding: find(objects, 'RoleBinding', clusterNames[component], 'tenant-acme'),
  rules: find<Role>(objects, 'ClusterRole', tenantRoles[component]).rules,
});

/** An account that each tenant binds and that has no rights: the process is not there. */
export const accountWithoutRights = (component: Component) => ({
  isThere: true,
  binding: {
    roleRef: { kind: 'ClusterRole', name: tenantRoles[component] },
    subjects: [{ kind: 'ServiceAccount', name: clusterNames[component], namespace: 'windlass-system' }],
  },
  rules: [],
});

/** How the replicas of a process run. */
export function replicasOf(objects: KubeObject[], component: Component) {
  const { spec } = find<Deployment>(objects, 'Deployment', clusterNames[component]);
  return {
    replicas: spec.replicas,
    account: spec.template.spec.serviceAccountName,
    budget: find(objects, 'PodDisruptionBudget', clusterNames[component]),
    container: spec.template.spec.containers[0],
  };
}

/** Two replicas that go one at a time, with the probes on the internal listener. */
export const twoReplicas = (component: Component) => ({
  replicas: 2,
  account: clusterNames[component],
  budget: { spec: { maxUnavailable: 1 } },
  container: {
    command: ['/usr/local/bin/node', `/app/${component}.js`],
    startupProbe: { httpGet: { path: '/health', port: 'internal' } },
    livenessProbe: { httpGet: { path: '/health', port: 'internal' } },
    readinessProbe: { httpGet: { path: '/ready', port: 'internal' } },
  },
});

/** A pod of the process in a namespace that is no tenant. */
export function foreignPodOf(objects: KubeObject[], component: Component): Pod {
  const { spec } = find<Deployment>(objects, 'Deployment', clusterNames[component]).spec.template;
  const metadata = { name: component, namespace: foreignOf(component) };
  return { metadata, spec: { ...spec, serviceAccountName: 'default' } };
}

const foreignOf = (component: Component): string => `test-chart-${component}-foreign`;

/** The process of the development cluster, beside a namespace that is no tenant. Call inside `describe`. */
export function installedProcess(component: Component) {
  const foreign = foreignOf(component);
  let client: KubeClient | undefined;
  const kube = (): KubeClient => {
    if (client === undefined) throw new Error('the cluster is not connected yet');
    return client;
  };
  beforeAll(async () => {
    client = (await connect()).kube;
    await makeForeignNamespace(client, foreign);
  });
  afterAll(async () => {
    await kube().delete(namespaces, { name: foreign });
    await kube().close();
  });
  return {
    account: `system:serviceaccount:windlass-system:${clusterNames[component]}`,
    namespace: 'windlass-system',
    tenant: 'tenant-demo',
    foreign,
    kube,
  };
}
