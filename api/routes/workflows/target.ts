import { annotations, globalNamespace, labels } from '../../../crds/labels.ts';
import type { Workflow } from '../../../crds/schema/workflow.ts';
import { ownerKey, type WorkflowScope } from '../../../lib/workflow-lookup/index.ts';
import { objectName, userObjectName, workflowName } from '../../../lib/manifest/index.ts';
import type { TenantDirectory, Viewer } from '../../cluster/index.ts';
import { notFound, unknownTenant } from '../not-found.ts';

/** The namespace of a workflow of a scope. @throws HttpError 404 for a tenant that is not set up. */
export function namespaceOf(
  tenants: Pick<TenantDirectory, 'namespaceOf'>,
  { tenant }: Viewer,
  scope: WorkflowScope,
): string {
  const namespace = scope === 'global' ? globalNamespace : tenants.namespaceOf(tenant);
  if (namespace === undefined) throw notFound(unknownTenant);
  return namespace;
}

/**
 * The same workflow as an object of that scope. One of a user carries its owner, and an object name that no other
 * user's can have.
 */
export function inScope(workflow: Workflow, scope: WorkflowScope, { subject }: Pick<Viewer, 'subject'>): Workflow {
  const name = workflowName(workflow.metadata);
  const { [labels.user]: _owner, ...otherLabels } = workflow.metadata.labels ?? {};
  const isUsers = scope === 'user';
  const own = isUsers ? userObjectName(ownerKey(subject), name) : objectName(name);
  const marks = { ...otherLabels, ...(isUsers ? { [labels.user]: ownerKey(subject) } : {}) };
  const notes = {
    ...notesToKeep(workflow),
    ...(own === name ? {} : { [annotations.name]: name }),
    ...(isUsers ? { [annotations.user]: subject } : {}),
  };
  return {
    apiVersion: workflow.apiVersion,
    kind: workflow.kind,
    metadata: {
      name: own,
      ...(Object.keys(marks).length > 0 && { labels: marks }),
      ...(Object.keys(notes).length > 0 && { annotations: notes }),
    },
    spec: workflow.spec,
  };
}

/** Those that speak of one object: its name, its owner, what was forced, what kubectl applied. */
const ofOneObject: ReadonlySet<string> = new Set([
  annotations.name,
  annotations.user,
  annotations.force,
  'kubectl.kubernetes.io/last-applied-configuration',
]);

function notesToKeep({ metadata }: Workflow): Record<string, string> {
  return Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([key]) => !ofOneObject.has(key)));
}
