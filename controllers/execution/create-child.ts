import { apiVersion, labels } from '../../crds/labels.ts';
import type { KubernetesObject } from '../../crds/schema/object.ts';
import type { WorkflowExecution, WorkflowExecutionSpec } from '../../crds/schema/workflow-execution.ts';
import { inheritedLineage } from '../../lib/agent/lineage.ts';
import { buildExecution } from '../../lib/execution/build-execution.ts';
import { workflowExecutions } from '../../lib/kinds.ts';
import { type CreateNamedDeps, createNamed } from './create-named.ts';
import { inheritedLink } from './engine/links.ts';

interface Child {
  readonly name: string;
  readonly spec: WorkflowExecutionSpec;
  /** Whether it is deleted with its parent. */
  readonly owned: boolean;
}

/** The child of one visit of a state, made once. Only the controllers write `spec.parent`. */
export async function createChild(
  deps: CreateNamedDeps,
  parent: WorkflowExecution,
  { name, spec, owned }: Child,
): Promise<WorkflowExecution | undefined> {
  return createNamed(deps, parent, {
    resource: workflowExecutions,
    name,
    build: (as) => childObject(parent, { name: as, spec, owned }),
    isOurs: ({ spec: { parent: of } }) =>
      of?.uid === parent.metadata.uid && of?.state === spec.parent?.state && of?.visit === spec.parent?.visit,
  });
}

/** An object that is always deleted with the execution: of such a kind only the controllers make one for a visit. */
export const ownedObject = <Kind extends string, Spec>(
  parent: WorkflowExecution,
  kind: Kind,
  { name, spec }: { readonly name: string; readonly spec: Spec },
): KubernetesObject<Kind, Spec, never> => ({
  apiVersion,
  kind,
  metadata: {
    name,
    ...(parent.metadata.namespace === undefined ? {} : { namespace: parent.metadata.namespace }),
    labels: childLabels(parent),
    annotations: inheritedLineage(parent),
    ownerReferences: [ownerOf(parent)],
  },
  spec,
});

/** The reference that makes an object go with the execution. */
const ownerOf = ({ metadata: { name, uid = '' } }: WorkflowExecution) => ({
  apiVersion,
  kind: 'WorkflowExecution',
  name,
  uid,
  controller: true,
});

/** Labels of what an execution starts. */
const childLabels = ({ metadata: { uid = '' } }: WorkflowExecution): Record<string, string> => ({
  [labels.parentUid]: uid,
  [labels.managedBy]: 'windlass',
});

function childObject(parent: WorkflowExecution, { name, spec, owned }: Child): WorkflowExecution {
  const { workflow: reference, version, ...fields } = spec;
  return buildExecution({
    name,
    namespace: parent.metadata.namespace,
    workflow: { reference, version },
    spec: fields,
    labels: childLabels(parent),
    annotations: { ...inheritedLink(parent), ...inheritedLineage(parent) },
    owner: owned ? ownerOf(parent) : undefined,
  });
}
