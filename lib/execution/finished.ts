import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';

/** The execution has reached its end: it will never change its phase again. */
export function finished({ status }: Pick<WorkflowExecution, 'status'>): boolean {
  return status?.phase === 'completed' || status?.phase === 'failed' || status?.phase === 'cancelled';
}
