import { randomBytes } from 'node:crypto';
import { isNotFound, type KubeClient, namespaces } from '../../../lib/kube/index.ts';
import { waitForNone } from './wait.ts';

/** On every namespace that tests make, so that a later run can clear what a killed one left. */
export const testRunLabel = 'windlass.dev/test-run';

/** A tenant's namespace of its own for a test file. */
export interface TestNamespace {
  readonly name: string;
  /** Deletes the namespace without waiting until everything in it is gone. */
  remove(): Promise<void>;
}

/**
 * Makes a namespace with the labels of a tenant's: the tenant's slug and Pod Security level restricted. It has none of
 * the role bindings that an installed controller needs; for those use `windlass tenant create`.
 */
export async function makeTestNamespace(kube: KubeClient, purpose: string): Promise<TestNamespace> {
  const name = `test-${purpose}-${randomBytes(3).toString('hex')}`;
  const labels = {
    'windlass.dev/tenant': name,
    [testRunLabel]: 'true',
    'pod-security.kubernetes.io/enforce': 'restricted',
  };
  await kube.create(namespaces, { metadata: { name, labels } });
  return {
    name,
    async remove() {
      await kube.delete(namespaces, { name }, { propagation: 'Background' });
    },
  };
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
