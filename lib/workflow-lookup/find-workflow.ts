import { globalNamespace } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { isUid } from '../../crds/uid.ts';
import type { CacheReader, IndexFunction } from '../informer/index.ts';
import { objectName, userObjectName, workflowName } from '../manifest/object-name.ts';
import { formerIdsOf } from './former-ids.ts';
import { noUser, workflowUser, type WorkflowScope, scopeOf, scopes } from './scope.ts';

/** Indexes that every cache of workflows has, so that a name means the same everywhere. */
export const workflowIndexes: Readonly<Record<'name' | 'formerId' | 'namespace', IndexFunction<Workflow>>> = {
  name: (workflow) => {
    const owner = workflowUser(workflow);
    if (owner === noUser) return [];
    return [nameKey(workflow.metadata.namespace ?? '', owner, workflowName(workflow.metadata))];
  },
  formerId: formerIdsOf,
  namespace: ({ metadata }) => [metadata.namespace ?? ''],
};
export type WorkflowCache = CacheReader<Workflow, keyof typeof workflowIndexes>;

/** The name or id that a caller asks for, and the caller's place. */
export interface WantedWorkflow {
  /** Namespace of the tenant. */
  readonly namespace: string;
  /** Key of the user whose own workflows count as well (`ownerKey`). */
  readonly user?: string;
  /** Whether an id may be that of any user's workflow: for those who may read the whole namespace anyway. */
  readonly anyUser?: boolean;
  /** Look in this scope only. Default: in the user's, the tenant's and the global one. */
  readonly scope?: WorkflowScope;
  readonly nameOrUid: string;
}

/**
 * The workflow that a name or uid means: the user's own hides one of the tenant, and that hides a global one. A
 * workflow of another tenant or user is not found, whatever is asked for.
 */
export function cachedWorkflow(
  cache: Pick<CacheReader<Workflow, 'name' | 'formerId'>, 'getByUid' | 'byIndex'>,
  wanted: WantedWorkflow,
): Workflow | undefined {
  const { namespace, user, nameOrUid } = wanted;
  const byUid = cache.getByUid(nameOrUid);
  if (byUid !== undefined && isVisible(byUid, wanted)) return byUid;
  // An id never means a name: a stranger could name a workflow like the id of a private, moved or deleted one (ADR 0050).
  if (isUid(nameOrUid)) return cache.byIndex('formerId', nameOrUid).find((workflow) => isVisible(workflow, wanted));
  const keys: Readonly<Record<WorkflowScope, string | undefined>> = {
    user: user === undefined ? undefined : nameKey(namespace, user, nameOrUid),
    tenant: nameKey(namespace, undefined, nameOrUid),
    global: nameKey(globalNamespace, undefined, nameOrUid),
  };
  for (const scope of wanted.scope === undefined ? scopes : [wanted.scope]) {
    const [found] = keys[scope] === undefined ? [] : cache.byIndex('name', keys[scope]);
    if (found !== undefined) return found;
  }
  return undefined;
}
/**
 * Whether an object is what was asked for: visible, and of that name, id or former id. For whatever was read past the
 * index: its name, owner and scope are what it records, not what the lookup derived its object name from.
 */
export function answersTo(workflow: Workflow, wanted: WantedWorkflow): boolean {
  if (!isVisible(workflow, wanted)) return false;
  const { nameOrUid } = wanted;
  if (workflow.metadata.uid === nameOrUid) return true;
  return isUid(nameOrUid) ? formerIdsOf(workflow).includes(nameOrUid) : workflowName(workflow.metadata) === nameOrUid;
}

/** Whether an object that was read again is still the workflow that was known: the same one, of the same owner and name. */
export function isStill(known: Workflow, now: Workflow): boolean {
  const identity = ({ metadata }: Workflow): string =>
    JSON.stringify([metadata.uid, metadata.namespace, workflowUser({ metadata }) ?? null, workflowName(metadata)]);
  return identity(known) === identity(now);
}

/** Whether the caller may know of the workflow. */
export function isVisible(workflow: Workflow, wanted: Omit<WantedWorkflow, 'nameOrUid'>): boolean {
  const { namespace, user, anyUser = false, scope } = wanted;
  const own = scopeOf(workflow);
  if (scope !== undefined && own !== scope) return false;
  if (own === 'global') return true;
  return workflow.metadata.namespace === namespace && (own === 'tenant' || anyUser || workflowUser(workflow) === user);
}

/** The places of a workflow of that name, the narrowest scope first. */
export function placesOf({ namespace, user, scope, nameOrUid: name }: WantedWorkflow): ObjectPlace[] {
  const places: Readonly<Record<WorkflowScope, ObjectPlace | undefined>> = {
    user: user === undefined ? undefined : { namespace, name: userObjectName(user, name) },
    tenant: { namespace, name: objectName(name) },
    global: { namespace: globalNamespace, name: objectName(name) },
  };
  return scopes
    .filter((candidate) => scope === undefined || candidate === scope)
    .map((candidate) => places[candidate])
    .filter((place) => place !== undefined);
}

/**
 * The places of workflows that would hide the one that a name means in a cache, the narrowest scope first: the cache may lack
 * what was created a moment ago. None where it was meant by an id, or one scope was asked for.
 */
export function placesThatHide(known: Workflow, wanted: WantedWorkflow): ObjectPlace[] {
  const { namespace, nameOrUid, scope } = wanted;
  const isById = isUid(nameOrUid) || known.metadata.uid === nameOrUid;
  if (scope !== undefined || isById || namespace === globalNamespace) return [];
  return scopes
    .slice(0, scopes.indexOf(scopeOf(known)))
    .flatMap((narrower) => placesOf({ ...wanted, scope: narrower }));
}

export interface ObjectPlace {
  readonly namespace: string;
  readonly name: string;
}

/** The parts stay apart whatever a name holds, so no name of the tenant's means the workflow of a user. */
function nameKey(namespace: string, owner: string | undefined, name: string): string {
  return JSON.stringify([namespace, owner ?? null, name]);
}
