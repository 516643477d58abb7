import { expect, vi } from 'vitest';
import {
  defineResource,
  type KubeClient,
  type PolicyRule,
  type Resource,
  type Role,
  type RoleBinding,
  roleBindings,
} from '../../../lib/kube/index.ts';
import { type Access, mayDo } from '../chart/access.ts';

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' } as const;
const apiVersion = `${rbac.group}/${rbac.version}`;
const roles = defineResource<Role>({ ...rbac, plural: 'roles', kind: 'Role', namespaced: true });
const clusterRoles = defineResource<Role>({ ...rbac, plural: 'clusterroles', kind: 'ClusterRole', namespaced: false });

interface Bound {
  readonly namespace: string;
  readonly role: string;
  readonly user: string;
}

/** Binds a user to a ClusterRole in one namespace, and waits until the API server knows it. */
export const bindRole = (kube: KubeClient, bound: Bound): Promise<void> => bind(kube, clusterRoles, bound);

/** A role with every verb on everything in one namespace, subresources of pods among them, bound to `user`. */
export async function giveEveryRight(kube: KubeClient, namespace: string, user: string): Promise<void> {
  const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
  await kube.create(roles, { apiVersion, kind: 'Role', metadata: { name: user, namespace }, rules });
  await bind(kube, roles, { namespace, role: user, user });
}

async function bind(kube: KubeClient, kind: Resource<Role>, { namespace, role, user }: Bound): Promise<void> {
  const binding: RoleBinding = {
    apiVersion,
    kind: 'RoleBinding',
    metadata: { name: `${role}-of-${user}`, namespace },
    roleRef: { apiGroup: rbac.group, kind: kind.kind, name: role },
    subjects: [{ apiGroup: rbac.group, kind: 'User', name: user }],
  };
  await kube.create(roleBindings, binding);
  const { rules } = await kube.get(kind, kind.namespaced ? { name: role, namespace } : { name: role });
  const isAllowed = (act: Access): Promise<boolean> => mayDo(kube, { user }, act);
  const acts = rules.flatMap((rule) => actOf(rule, namespace));
  // The API server reads a new binding a moment after it has stored it.
  await vi.waitFor(async () => expect(await Promise.all(acts.map(isAllowed))).not.toContain(false), {
    timeout: 20_000,
    interval: 100,
  });
}

/** One act that a rule allows; none for a rule that names objects. */
function actOf(rule: PolicyRule & { readonly resourceNames?: readonly string[] }, namespace: string): Access[] {
  const { apiGroups, resources, verbs, resourceNames } = rule;
  const [resource = '', subresource] = (resources[0] ?? '').split('/');
  if (resource === '' || resourceNames !== undefined) return [];
  const [[group = ''], [verb = '']] = [apiGroups, verbs];
  return [{ namespace, group, resource, verb, ...(subresource !== undefined && { subresource }) }];
}
