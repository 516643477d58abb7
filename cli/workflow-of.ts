import { labels } from '../crds/labels.ts';
import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';

/** The name of the workflow that an execution runs, or is to run. */
export function workflowOf({ spec, status, metadata }: WorkflowExecution): string {
  return status?.workflow?.name ?? metadata.labels?.[labels.workflow] ?? spec.workflow;
}
