import { randomBytes } from 'node:crypto';
import {
  isNotFound,
  type KubeClient,
  type KubeObject,
  namespaces,
  networkPolicies,
  type Resource,
  resourceQuotas,
  roleBindings,
  serviceAccounts,
} from '../../../lib/kube/index.ts';
import { tenantManifests } from '../../../lib/tenant/tenant-manifests.ts';
import { waitForNone } from './wait.ts';

/** On every namespace that tests make, so that a later run can clear what a killed one left. */
export const testRunLabel = 'windlass.dev/test-run';

/** A tenant's namespace of its own for a test file. */
export interface TestNamespace {
  readonly name: string;
  /** Deletes the namespace without waiting until everything in it is gone. */
  remove(): Promise<void>;
}

const resources: Readonly<Record<string, Resource>> = {
  Namespace: namespaces,
  ResourceQuota: resourceQuotas,
  NetworkPolicy: networkPolicies,
  RoleBinding: roleBindings as Resource,
  ServiceAccount: serviceAccounts as Resource,
};

/**
 * Makes a tenant as `windlass tenant create` does, Pod Security level restricted and the controllers' role binding
 * included, so that it serves installed controllers as well as those of a test. It has no quota: tests choose their own
 * load.
 */
export async function makeTestNamespace(kube: KubeClient, purpose: string): Promise<TestNamespace> {
  const namespace = await makeYoungNamespace(kube, purpose);
  await namespace.settle();
  return namespace;
}

/** A tenant in its first moment: nothing gives the processes of Windlass a right there until `settle` is called. */
export interface YoungNamespace extends TestNamespace {
  settle(): Promise<void>;
}

export async function makeYoungNamespace(kube: KubeClient, purpose: string): Promise<YoungNamespace> {
  const name = `test-${purpose}-${randomBytes(3).toString('hex')}`;
  const objects = tenantManifests({ slug: name, namespace: name, quota: {}, egress: 'dns' });
  const make = async (isWanted: (object: KubeObject) => boolean): Promise<void> => {
    for (const object of objects.filter(isWanted)) {
      const resource = resources[object.kind ?? ''];
      if (resource === undefined) throw new Error(`a tenant has a ${object.kind} that the tests do not know`);
      await kube.create(resource, marked(object));
    }
  };
  const isRight = ({ kind }: KubeObject): boolean => kind === 'RoleBinding';
  await make((object) => !isRight(object));
  return {
    name,
    settle: () => make(isRight),
    async remove() {
      await kube.delete(namespaces, { name }, { propagation: 'Background' });
    },
  };
}

function marked(object: KubeObject): KubeObject {
  if (object.kind !== 'Namespace') return object;
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, [testRunLabel]: 'true' } } };
}

/** Deletes the namespaces of runs that were killed, and waits for it. */
export async function removeLeftNamespaces(kube: KubeClient): Promise<void> {
  const selection = { labelSelector: testRunLabel };
  const left = await kube.listAll(namespaces, selection);
  await Promise.all(
    left.items.map((item) =>
      kube.delete(namespaces, { name: item.metadata.name ?? '' }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error;
      }),
    ),
  );
  const what = 'namespaces of earlier test runs gone';
  await waitForNone(kube, { resource: namespaces, ...selection }, { timeoutMs: 120_000, what });
}
