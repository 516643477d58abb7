import { defineResource, findObject, type KubeClient, type KubeObject, roleBindings } from '../../../lib/kube/index.ts';
import { publicKeysName } from '../../../lib/keys/public-keys.ts';
import { writeAccountKubeconfig } from '../../../test/cluster/harness/account-kubeconfig.ts';
import { kubeconfigPath } from '../../../test/cluster/harness/cluster.ts';

interface Role extends KubeObject {
  readonly rules: readonly {
    readonly apiGroups: readonly string[];
    readonly resources: readonly string[];
    readonly resourceNames: readonly string[];
    readonly verbs: readonly string[];
  }[];
}

const roles = defineResource<Role>({
  group: 'rbac.authorization.k8s.io',
  version: 'v1',
  plural: 'roles',
  kind: 'Role',
  namespaced: true,
});
const serviceAccounts = defineResource<KubeObject>({
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
});

const account = { namespace: 'windlass-system', name: 'windlass-relay' };

/**
 * The kubeconfig of the chart's relay, which the admission policies let write hosts, where the chart is installed; else
 * that of the administrator. In this namespace the account may read the public keys, as it may in that of the release.
 */
export async function relayKubeconfig(kube: KubeClient, namespace: string): Promise<string> {
  if ((await findObject(kube, serviceAccounts, account)) === undefined) return kubeconfigPath();
  const metadata = { name: 'bench-relay', namespace };
  const rule = { apiGroups: [''], resources: ['configmaps'], resourceNames: [publicKeysName], verbs: ['get'] };
  await kube.create(roles, { metadata, rules: [rule] });
  await kube.create(roleBindings, {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', ...account }],
  });
  return writeAccountKubeconfig(kubeconfigPath(), account.name, 'bench-relay');
}
