import { globalNamespace } from '../../../crds/labels.ts';
import { findObject } from '../../../lib/kube/find-object.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import { isForbidden, isNamespaceGone } from '../../../lib/kube/kube-error.ts';
import { namespaces } from '../../../lib/kube/resource.ts';
import { CliError } from '../../exit-codes.ts';

interface NamespaceDeps {
  readonly kube: Pick<KubeClient, 'get'>;
  readonly namespace: string;
}

/**
 * To the API server a namespace that does not exist is one that holds nothing. Throws a not-found error where there is
 * none of that name; who may not look at namespaces learns nothing more than before.
 */
async function assertNamespace({ kube, namespace }: NamespaceDeps): Promise<void> {
  try {
    if ((await findObject(kube, namespaces, { name: namespace })) !== undefined) return;
  } catch (error) {
    if (isForbidden(error)) return;
    throw error;
  }
  throw noNamespace(namespace);
}

/** The items of a list; an empty one is looked into. */
export async function listedIn<T>(deps: NamespaceDeps, items: readonly T[]): Promise<readonly T[]> {
  if (items.length === 0) await assertNamespace(deps);
  return items;
}

/** The result of the work; a missing namespace is a better error than a missing name in it. */
export async function inNamespace<T>(deps: NamespaceDeps, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (isNamespaceGone(error) || (error instanceof CliError && error.exit === 'not_found')) {
      await assertNamespace(deps);
    }
    throw error;
  }
}

function noNamespace(namespace: string): CliError {
  const hint =
    namespace === globalNamespace
      ? 'Install the chart, or choose another cluster with --context.'
      : 'Choose another with -n; tenants and their namespaces: windlass tenant list';
  return new CliError('not_found', `there is no namespace '${namespace}'`, hint);
}
