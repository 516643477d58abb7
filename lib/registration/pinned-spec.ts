import { globalNamespace, labels } from '../../crds/labels.ts';
import type { WorkflowSpec } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import {
  type ControllerRevision,
  controllerRevisions,
  findObject,
  isForbidden,
  type KubeClient,
} from '../kube/index.ts';
import { holdsItsContent, isRevisionOf, specOf } from './revision.ts';

/**
 * The definition that an execution runs, as it was when it began. Undefined where it is gone, may not be read, or is not
 * what the status claims: a status may be a stranger's.
 */
export async function pinnedSpec(
  kube: Pick<KubeClient, 'get'>,
  { metadata, status }: Pick<WorkflowExecution, 'metadata' | 'status'>,
): Promise<WorkflowSpec | undefined> {
  const pin = status?.workflow;
  if (pin === undefined || ![metadata.namespace, globalNamespace].includes(pin.namespace)) return undefined;
  try {
    const revision = await findObject(kube, controllerRevisions, { namespace: pin.namespace, name: pin.revision });
    return revision !== undefined && isPinned(revision, pin) ? specOf(revision) : undefined;
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

type Pin = NonNullable<NonNullable<WorkflowExecution['status']>['workflow']>;

function isPinned(revision: ControllerRevision, { namespace, uid }: Pin): boolean {
  const name = revision.metadata.labels?.[labels.workflow] ?? '';
  return isRevisionOf({ metadata: { name, namespace, uid } }, revision) && holdsItsContent(revision);
}
