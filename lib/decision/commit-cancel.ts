import type { Cancel, WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { ExecutionError } from '../execution/execution-error.ts';
import { finished } from '../execution/finished.ts';
import { type ExecutionWriter, updateExecution } from './update-execution.ts';

/** Records that the execution is to be cancelled. Cancelling again changes nothing: whoever was first stands. */
export async function commitCancel(
  kube: ExecutionWriter,
  execution: WorkflowExecution,
  wanted: Cancel,
): Promise<WorkflowExecution> {
  if (execution.spec.cancel) return execution;
  return updateExecution(kube, execution, (latest) => ({ cancel: cancelOf(latest, wanted) }));
}

/** The cancellation to write: that of whoever was first. Throws a conflict when the execution has ended. */
export function cancelOf(latest: WorkflowExecution, wanted: Cancel): Cancel {
  if (latest.spec.cancel) return latest.spec.cancel;
  if (!finished(latest)) return wanted;
  const end = latest.status?.phase === 'cancelled' ? 'been cancelled' : latest.status?.phase;
  const message = `${latest.metadata.name} cannot be cancelled: it has ${end}`;
  throw new ExecutionError('AlreadyFinished', latest, message);
}
