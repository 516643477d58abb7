import type { Cancel, WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { ExecutionError } from '../execution/execution-error.ts';
import { type ExecutionWriter, updateExecution } from './update-execution.ts';

/**
 * Records that the execution is to be cancelled. Cancelling again changes nothing: the first caller counts. Throws a
 * conflict when the execution has ended otherwise.
 */
export async function commitCancel(
  kube: ExecutionWriter,
  execution: WorkflowExecution,
  wanted: Cancel,
): Promise<WorkflowExecution> {
  if (isCancelled(execution)) return execution;
  return updateExecution(kube, execution, (latest) => ({ cancel: isCancelled(latest) ? latest.spec.cancel : wanted }));
}

/** Whether it was cancelled, or is about to be. Throws a conflict when it cannot be any more. */
export function isCancelled(latest: WorkflowExecution): boolean {
  const { phase } = latest.status ?? {};
  if (phase !== 'completed' && phase !== 'failed') return phase === 'cancelled' || latest.spec.cancel !== undefined;
  const message = `${latest.metadata.name} cannot be cancelled: it has ${phase}`;
  throw new ExecutionError('AlreadyFinished', latest, message);
}
