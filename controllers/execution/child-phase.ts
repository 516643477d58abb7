import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { Phase } from '../../crds/schema/workflow-execution-status.ts';

/** The phase of a child; one that is being deleted before it ended counts as cancelled. */
export function childPhase({ metadata, status }: WorkflowExecution): Phase {
  const phase = status?.phase ?? 'pending';
  const ended = phase === 'completed' || phase === 'failed';
  return metadata.deletionTimestamp !== undefined && !ended ? 'cancelled' : phase;
}
