import type { ExecutionReason } from '../../crds/conditions.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { Phase } from '../../crds/schema/workflow-execution-status.ts';

/** Whether a phase is an end, one way or another: it never changes again. */
export const isTerminal = ({ phase }: { readonly phase: Phase }): boolean =>
  phase === 'completed' || phase === 'failed' || phase === 'cancelled';

/** Whether an execution came to its end, and the state that ended it did not fail (requirements AMB-169). */
export const succeeded = ({ phase, reason }: { readonly phase: Phase; readonly reason?: string }): boolean =>
  phase === 'completed' && reason !== ('LastStateFailed' satisfies ExecutionReason);

/** The execution has reached its end: it will never change its phase again. */
export function finished({ status }: Pick<WorkflowExecution, 'status'>): boolean {
  return status !== undefined && isTerminal(status);
}
