import { globalNamespace } from '../../crds/labels.ts';
import type { WorkflowSpec } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { KubeClient } from '../kube/index.ts';
import { pinnedContent } from './pinned-content.ts';
import { specOf } from './revision.ts';

/**
 * The definition that an execution runs, as it was when it began. Undefined where it is gone, or is not what the status
 * claims: a status may be a stranger's.
 */
export async function pinnedSpec(
  kube: Pick<KubeClient, 'get'>,
  { metadata, status }: Pick<WorkflowExecution, 'metadata' | 'status'>,
): Promise<WorkflowSpec | undefined> {
  const pin = status?.workflow;
  if (pin === undefined || ![metadata.namespace, globalNamespace].includes(pin.namespace)) return undefined;
  const revision = await pinnedContent(kube, 'Workflow', pin);
  return revision && specOf(revision);
}
