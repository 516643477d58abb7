import type { OptionValues } from 'commander';
import { labels } from '../../crds/labels.ts';
import type { KubeClient, Namespace } from '../../lib/kube/index.ts';
import { isForbidden } from '../../lib/kube/kube-error.ts';
import { namespaces } from '../../lib/kube/resource.ts';
import { parseTenantSlug } from '../../lib/tenant/names.ts';
import { CliError } from '../exit-codes.ts';
import type { Run } from '../launch.ts';

/**
 * The namespace with the label of a tenant, if there is one. Where several carry it, this is not the place to guess
 * which is meant: throws a conflict that names them.
 */
export async function ownNamespace(kube: Pick<KubeClient, 'listAll'>, slug: string): Promise<Namespace | undefined> {
  const labelSelector = `${labels.tenant}=${parseTenantSlug(slug)}`;
  const { items } = await kube.listAll(namespaces, { labelSelector });
  if (items.length <= 1) return items[0];
  const names = items.map(({ metadata }) => metadata.name ?? '').toSorted();
  throw new CliError(
    'conflict',
    `several namespaces carry the label of tenant '${slug}': ${names.join(', ')}`,
    `Take the label off those that are not meant: kubectl label namespace NAME ${labels.tenant}-`,
  );
}

/** A command on tenants, for whose refusals the administrator of the cluster is the one to ask. */
export function administrating<Options extends OptionValues>(run: Run<Options>): Run<Options> {
  return async (...given) => {
    try {
      return await run(...given);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      const hint = 'Tenants are made with rights in the whole cluster: ask its administrator.';
      throw new CliError('cluster', error.serverMessage, hint);
    }
  };
}
