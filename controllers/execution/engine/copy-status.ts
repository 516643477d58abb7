import type { WorkflowExecutionStatus } from '../../../crds/schema/workflow-execution-status.ts';

/**
 * A status that a draft may change: new objects where a draft writes into one, and the present values everywhere else.
 * What users have put on the Blackboard is never changed in place, and copying a megabyte of it takes a tenth of a second.
 */
export function copyStatus(status: WorkflowExecutionStatus | undefined): WorkflowExecutionStatus {
  if (status === undefined) return { phase: 'pending' };
  const { current, history } = status;
  return {
    ...status,
    ...(current === undefined ? {} : { current: { ...current } }),
    ...(history === undefined ? {} : { history: history.map((visit) => ({ ...visit })) }),
  };
}
