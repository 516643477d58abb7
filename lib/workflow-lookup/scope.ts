import { globalNamespace, labels } from '../../crds/labels.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { shortHash } from '../ids.ts';
import { isDerivedName, isOfUser, workflowName } from '../manifest/object-name.ts';

/** Scopes of a workflow, the narrowest first (spec 1 §2.6, design §3): they say who may run it. */
export const scopes = ['user', 'tenant', 'global'] as const;
export type WorkflowScope = (typeof scopes)[number];

/** How a user is written in labels and names of objects, which take no free text. */
export function ownerKey(subject: string): string {
  return shortHash(subject, 32);
}

/** Key that no user has: of an object that says it is a user's own and does not have the name that this makes. */
export const noUser = '';

/**
 * Key of the user whose workflow it is; undefined for one of a tenant or of the global scope. Labels and names are
 * open to every writer where no admission policy guards them, so a user's own is believed only under its derived name.
 */
export function workflowUser({ metadata }: Pick<Workflow, 'metadata'>): string | undefined {
  if (metadata.namespace === globalNamespace) return undefined;
  const owner = metadata.labels?.[labels.user];
  if (owner !== undefined) return isOfUser(metadata) ? owner : noUser;
  return isDerivedName(metadata.name) && workflowName(metadata) === metadata.name ? noUser : undefined;
}

export function scopeOf(workflow: Pick<Workflow, 'metadata'>): WorkflowScope {
  if (workflow.metadata.namespace === globalNamespace) return 'global';
  return workflowUser(workflow) === undefined ? 'tenant' : 'user';
}

/** The order of a list: by name, and of one name the narrowest scope first. */
export function byName(a: ScopedName, b: ScopedName): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return scopes.indexOf(a.scope) - scopes.indexOf(b.scope);
}

interface ScopedName {
  readonly name: string;
  readonly scope: WorkflowScope;
}
