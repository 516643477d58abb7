import { defineResource, type KubeClient, type Role, roleBindings } from '../../../lib/kube/index.ts';

const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1' } as const;
const roles = defineResource<Role>({ ...rbac, plural: 'roles', kind: 'Role', namespaced: true });

/** A role with every verb on everything in one namespace, subresources of pods among them, bound to `user`. */
export async function giveEveryRight(kube: KubeClient, namespace: string, user: string): Promise<void> {
  const metadata = { name: user, namespace };
  const apiVersion = `${rbac.group}/${rbac.version}`;
  const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
  await kube.create(roles, { apiVersion, kind: 'Role', metadata, rules });
  await kube.create(roleBindings, {
    apiVersion,
    kind: 'RoleBinding',
    metadata,
    roleRef: { apiGroup: rbac.group, kind: 'Role', name: user },
    subjects: [{ apiGroup: rbac.group, kind: 'User', name: user }],
  });
}
