import { globalNamespace } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { CacheReader, IndexFunction } from '../informer/index.ts';
import { objectName, userObjectName, workflowName } from '../manifest/object-name.ts';
import { formerIdsOf } from './former-ids.ts';
import { ownerOf, type Scope, scopeOf, scopes } from './scope.ts';

/** Indexes that every cache of workflows has, so that a name means the same everywhere. */
export const workflowIndexes: Readonly<Record<'name' | 'formerId', IndexFunction<Workflow>>> = {
  name: (workflow) => [nameKey(workflow.metadata.namespace ?? '', ownerOf(workflow), workflowName(workflow.metadata))],
  formerId: formerIdsOf,
};
export type WorkflowCache = CacheReader<Workflow, keyof typeof workflowIndexes>;

/** What somebody asks for, and from where. */
export interface WantedWorkflow {
  /** Namespace of the tenant. */
  readonly namespace: string;
  /** Key of the user whose own workflows count as well (`ownerKey`). */
  readonly user?: string;
  /** Whether an id may be that of any user's workflow: for those who may read the whole namespace anyway. */
  readonly anyUser?: boolean;
  /** Look in this scope only. Default: in the user's, the tenant's and the global one. */
  readonly scope?: Scope;
  readonly nameOrUid: string;
}

/**
 * The workflow that a name or uid means: the user's own hides one of the tenant, and that hides a global one. A
 * workflow of another tenant or user is not found, whatever is asked for.
 */
export function cachedWorkflow(cache: WorkflowCache, wanted: WantedWorkflow): Workflow | undefined {
  const { namespace, user, nameOrUid } = wanted;
  const byUid = cache.getByUid(nameOrUid);
  if (byUid !== undefined && isVisible(byUid, wanted)) return byUid;
  const keys: Readonly<Record<Scope, string | undefined>> = {
    user: user === undefined ? undefined : nameKey(namespace, user, nameOrUid),
    tenant: nameKey(namespace, undefined, nameOrUid),
    global: nameKey(globalNamespace, undefined, nameOrUid),
  };
  for (const scope of wanted.scope === undefined ? scopes : [wanted.scope]) {
    const [found] = keys[scope] === undefined ? [] : cache.byIndex('name', keys[scope]);
    if (found !== undefined) return found;
  }
  return cache.byIndex('formerId', nameOrUid).find((workflow) => isVisible(workflow, wanted));
}

/** Whether whoever asks may know of the workflow. */
export function isVisible(workflow: Workflow, wanted: Omit<WantedWorkflow, 'nameOrUid'>): boolean {
  const { namespace, user, anyUser = false, scope } = wanted;
  const own = scopeOf(workflow);
  if (scope !== undefined && own !== scope) return false;
  if (own === 'global') return true;
  return workflow.metadata.namespace === namespace && (own === 'tenant' || anyUser || ownerOf(workflow) === user);
}

/** Where a workflow of that name would stand, the narrowest scope first. */
export function placesOf({ namespace, user, scope, nameOrUid: name }: WantedWorkflow): ObjectPlace[] {
  const places: Readonly<Record<Scope, ObjectPlace | undefined>> = {
    user: user === undefined ? undefined : { namespace, name: userObjectName(user, name) },
    tenant: { namespace, name: objectName(name) },
    global: { namespace: globalNamespace, name: objectName(name) },
  };
  return scopes
    .filter((candidate) => scope === undefined || candidate === scope)
    .map((candidate) => places[candidate])
    .filter((place) => place !== undefined);
}

interface ObjectPlace {
  readonly namespace: string;
  readonly name: string;
}

/** No name holds a slash, so the workflows of users and of the tenant keep apart. */
function nameKey(namespace: string, owner: string | undefined, name: string): string {
  return owner === undefined ? `${namespace}/${name}` : `${namespace}/${owner}/${name}`;
}
