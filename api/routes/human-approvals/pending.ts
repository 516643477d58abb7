import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { CurrentState } from '../../../crds/schema/workflow-execution-status.ts';
import { approvalIdOf } from '../../../lib/decision/approval-id.ts';
import { firstSignal } from '../../../lib/decision/first-signal.ts';

/** A question of an execution to people. */
export interface Pending {
  readonly id: string;
  readonly execution: WorkflowExecution;
  readonly current: CurrentState;
}

/**
 * The present question of an execution. None once a user has decided, the execution is being cancelled or deleted, or
 * its time is over, although the controllers may not have moved on yet (spec 1 §3.1).
 */
export function pendingOf(execution: WorkflowExecution, now: number): Pending | undefined {
  const id = approvalIdOf(execution);
  const { metadata, spec, status } = execution;
  const current = status?.current;
  if (id === undefined || current === undefined) return undefined;
  if (spec.cancel !== undefined || metadata.deletionTimestamp !== undefined) return undefined;
  if (current.deadline !== undefined && now >= Date.parse(current.deadline)) return undefined;
  return firstSignal(spec.signals, current) === undefined ? { id, execution, current } : undefined;
}
