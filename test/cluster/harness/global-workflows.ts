import { globalNamespace } from '../../../crds/labels.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import { workflows } from './kinds.ts';

/** Deletes these global workflows: they outlive the tenants of a test, and everybody sees them. */
export async function removeGlobalWorkflows(kube: KubeClient, isOurs: (name: string) => boolean): Promise<void> {
  const { items } = await kube.listAll(workflows, { namespace: globalNamespace });
  const names = items.map(({ metadata }) => metadata.name).filter(isOurs);
  await Promise.all(names.map((name) => kube.delete(workflows, { namespace: globalNamespace, name })));
}
