import type { ApiSpec } from '../../crds/schema/api-spec.ts';
import type { ToolWorkflow } from '../../crds/schema/tool-workflow.ts';
import { unlessBeingDeleted } from '../being-deleted.ts';
import { visiblePlaces } from '../tenant/visible-places.ts';
import { holderOf, registeredNameOf } from './registered.ts';

/** ApiSpecs by namespace and by uid. */
export interface ApiSpecCache {
  getByUid(uid: string): ApiSpec | undefined;
  byIndex(index: 'namespace', key: string): readonly ApiSpec[];
}

/** Its place and its reference. */
interface Naming {
  readonly metadata: Pick<ToolWorkflow['metadata'], 'namespace'>;
  readonly spec: Pick<ToolWorkflow['spec'], 'api_spec_id' | 'api_spec'>;
}

/**
 * The ApiSpec that a tool workflow names, among those that its own namespace sees, for any caller: a shared workflow
 * calls a shared API (ADR 0133). One of another tenant is not found, whatever is asked for (GW-TEN-08).
 */
export function findApiSpec(cache: ApiSpecCache, { metadata, spec }: Naming): ApiSpec | undefined {
  const { api_spec_id: id, api_spec: name } = spec;
  const places = visiblePlaces(metadata.namespace ?? '');
  if (id !== undefined) {
    const found = unlessBeingDeleted(cache.getByUid(id.toLowerCase()));
    return found !== undefined && places.includes(found.metadata.namespace ?? '') ? found : undefined;
  }
  const named = places.flatMap((place) =>
    cache.byIndex('namespace', place).filter((found) => registeredNameOf(found) === name),
  );
  return holderOf(named);
}

/** Why there is no API for a tool workflow, and what mends it. */
export function missingApiSpec({ metadata, spec }: Naming): string {
  const field = spec.api_spec_id === undefined ? 'api_spec' : 'api_spec_id';
  const places = visiblePlaces(metadata.namespace ?? '').join(' or ');
  return `there is no ApiSpec ${spec[field] ?? ''} in ${places}; make it, or mend ${field} of the ToolWorkflow`;
}
