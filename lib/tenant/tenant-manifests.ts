import { labels, systemNamespace } from '../../crds/labels.ts';
import type { KubeObject, Namespace, ResourceQuota, RoleBinding, ServiceAccount } from '../kube/index.ts';
import { agentServiceAccount, clusterNames, parseTenantSlug, tenantNamespace } from './names.ts';
import { type Egress, networkPolicies } from './network-policies.ts';

/** The subject that a role is given to. */
export interface Subject {
  readonly kind: 'User' | 'Group' | 'ServiceAccount';
  readonly name: string;
  /** Service accounts only. */
  readonly namespace?: string | undefined;
}

/** A tenant to set up. Only the slug is needed. */
export interface TenantOptions {
  readonly slug: string;
  /** @default `tenant-<slug>` */
  readonly namespace?: string;
  /** `hard` of the namespace's ResourceQuota; an empty record makes none. @default `defaultQuota` */
  readonly quota?: Readonly<Record<string, string>>;
  /** @default 'internet' */
  readonly egress?: Egress | undefined;
  /** Subjects that may read everything of the tenant. */
  readonly viewers?: readonly Subject[];
  /** Subjects that may also define workflows, run them and decide. */
  readonly operators?: readonly Subject[];
  /** Namespace of the release. @default 'windlass-system' */
  readonly releaseNamespace?: string;
}

/**
 * Bounds what one tenant can take of the API server, of storage and of every replica's memory. It counts pods and
 * claims, our own objects, and every other kind that the ClusterRole `edit` lets a tenant create. It also counts what
 * the controllers make of ours: a revision for each version, ConfigMaps for large outputs, a NetworkPolicy for an
 * execution of an agent. Not CPU or memory: those would refuse every pod that names no request.
 */
export const defaultQuota = {
  pods: '500',
  // Those that have ended as well, of which the garbage collector leaves 12,500 in the cluster by default.
  'count/pods': '20000',
  persistentvolumeclaims: '200',
  'count/workflowexecutions.windlass.dev': '10000',
  'count/workflows.windlass.dev': '1000',
  'count/volumes.windlass.dev': '500',
  'count/stimulusrouters.windlass.dev': '200',
  'count/agents.windlass.dev': '1000',
  'count/agentexecutions.windlass.dev': '10000',
  'count/toolcalls.windlass.dev': '10000',
  'count/securitycontexts.windlass.dev': '200',
  'count/apispecs.windlass.dev': '200',
  'count/toolworkflows.windlass.dev': '1000',
  'count/clitools.windlass.dev': '200',
  'count/scripts.windlass.dev': '500',
  'count/gitbindings.windlass.dev': '100',
  'count/edgegroups.windlass.dev': '500',
  'count/fleetruns.windlass.dev': '5000',
  'count/edgehosts.windlass.dev': '10000',
  'count/controllerrevisions.apps': '5000',
  'count/configmaps': '20000',
  'count/secrets': '2000',
  'count/services': '200',
  'services.nodeports': '20',
  'services.loadbalancers': '5',
  'count/serviceaccounts': '200',
  'count/replicationcontrollers': '200',
  'count/deployments.apps': '200',
  'count/replicasets.apps': '2000',
  'count/statefulsets.apps': '200',
  'count/daemonsets.apps': '100',
  'count/jobs.batch': '2000',
  'count/cronjobs.batch': '200',
  'count/horizontalpodautoscalers.autoscaling': '200',
  'count/poddisruptionbudgets.policy': '200',
  'count/ingresses.networking.k8s.io': '200',
  'count/networkpolicies.networking.k8s.io': '10000',
  'count/leases.coordination.k8s.io': '500',
} as const;

/**
 * Everything that makes a namespace a tenant, in the order in which to apply it. First is the Namespace with Pod
 * Security `restricted`. Its quota, its network policies and the account of agents follow, then the role bindings of
 * the controllers, the API, the tool gateway, the relay and people. Pure; applying it twice changes nothing. The
 * chart's `tenants` values render the same objects. Throws AppError `invalid` for a slug that is not valid.
 */
export function tenantManifests(options: TenantOptions): KubeObject[] {
  const slug = parseTenantSlug(options.slug);
  const namespace = options.namespace ?? tenantNamespace(slug);
  return [
    namespaceOf(slug, namespace),
    ...quotas(namespace, options.quota ?? defaultQuota),
    ...networkPolicies(namespace, options.egress ?? 'internet', options.releaseNamespace ?? systemNamespace),
    agentAccount(namespace),
    ...roleBindings(namespace, options),
  ].map(marked);
}

/** Pods of agents run as it, and no role is bound to it: it may do nothing in the cluster (design §12). */
const agentAccount = (namespace: string): ServiceAccount => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: agentServiceAccount, namespace },
  automountServiceAccountToken: false,
});

const podSecurity = Object.fromEntries(
  ['enforce', 'audit', 'warn'].flatMap((mode) => [
    [`pod-security.kubernetes.io/${mode}`, 'restricted'],
    [`pod-security.kubernetes.io/${mode}-version`, 'latest'],
  ]),
);

function namespaceOf(slug: string, name: string): Namespace {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { [labels.tenant]: slug, ...podSecurity } } };
}

function quotas(namespace: string, hard: Readonly<Record<string, string>>): ResourceQuota[] {
  if (Object.keys(hard).length === 0) return [];
  return [{ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'windlass', namespace }, spec: { hard } }];
}

function roleBindings(namespace: string, options: TenantOptions): RoleBinding[] {
  const account = (name: string): Subject => ({
    kind: 'ServiceAccount',
    name,
    namespace: options.releaseNamespace ?? systemNamespace,
  });
  const bindings: [name: string, role: string, subjects: readonly Subject[]][] = [
    [clusterNames.controllers, clusterNames.tenantController, [account(clusterNames.controllers)]],
    [clusterNames.api, clusterNames.tenantApi, [account(clusterNames.api)]],
    [clusterNames.gateway, clusterNames.tenantGateway, [account(clusterNames.gateway)]],
    [clusterNames.relay, clusterNames.tenantRelay, [account(clusterNames.relay)]],
    [clusterNames.viewer, clusterNames.viewer, options.viewers ?? []],
    [clusterNames.operator, clusterNames.operator, options.operators ?? []],
  ];
  return bindings
    .filter(([, , subjects]) => subjects.length > 0)
    .map(([name, role, subjects]) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name, namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
      subjects: subjects.map(subjectOf),
    }));
}

/** Users and groups belong to the RBAC group, service accounts to the core group and to a namespace. */
function subjectOf(subject: Subject): NonNullable<RoleBinding['subjects']>[number] {
  const { kind, name, namespace } = subject;
  if (kind === 'ServiceAccount') return { kind, name, namespace };
  return { apiGroup: 'rbac.authorization.k8s.io', kind, name };
}

function marked(object: KubeObject): KubeObject {
  const own = { [labels.managedBy]: 'windlass', 'app.kubernetes.io/part-of': 'windlass' };
  return { ...object, metadata: { ...object.metadata, labels: { ...own, ...object.metadata.labels } } };
}
