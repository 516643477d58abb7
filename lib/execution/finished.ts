import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { Phase } from '../../crds/schema/workflow-execution-status.ts';

/** Whether a phase is an end, one way or another: it never changes again. */
export const isTerminal = ({ phase }: { readonly phase: Phase }): boolean =>
  phase === 'completed' || phase === 'failed' || phase === 'cancelled';

/** The execution has reached its end: it will never change its phase again. */
export function finished({ status }: Pick<WorkflowExecution, 'status'>): boolean {
  return status !== undefined && isTerminal(status);
}
