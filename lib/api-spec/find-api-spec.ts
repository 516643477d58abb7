import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { ToolWorkflowSpec } from '../../crds/schema/tool-workflow.ts';
import { holderOf, registeredNameOf } from './registered.ts';

/** ApiSpecs by namespace and by uid. */
export interface ApiSpecCache {
  getByUid(uid: string): ApiSpec | undefined;
  byIndex(index: 'namespace', key: string): readonly ApiSpec[];
}

/**
 * The ApiSpec that a tool workflow names, among those of `places`, the namespaces that its tenant sees. One of another
 * tenant is not found, whatever is asked for (GW-TEN-08).
 */
export function findApiSpec(
  cache: ApiSpecCache,
  places: readonly string[],
  { api_spec_id: id, api_spec: name }: Pick<ToolWorkflowSpec, 'api_spec_id' | 'api_spec'>,
): ApiSpec | undefined {
  if (id !== undefined) {
    const found = cache.getByUid(id.toLowerCase());
    return found !== undefined && places.includes(found.metadata.namespace ?? '') ? found : undefined;
  }
  const named = places.flatMap((place) =>
    cache.byIndex('namespace', place).filter((spec) => registeredNameOf(spec) === name),
  );
  return holderOf(named);
}
