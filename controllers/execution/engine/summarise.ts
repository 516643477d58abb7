import { conditionTypes } from '../../../crds/conditions.ts';
import type { Condition } from '../../../crds/schema/condition.ts';
import type { Phase, WorkflowExecutionStatus } from '../../../crds/schema/workflow-execution-status.ts';
import { cutMiddle } from '../../../lib/cut-text.ts';
import { isTerminal, succeeded } from '../../../lib/execution/finished.ts';
import { nextCondition } from '../../runtime/next-condition.ts';
import type { Draft } from './draft.ts';
import type { Blockage } from './facts.ts';

/** Longest message of a condition, in characters. */
const messageLength = 1_024;

/** Whether the execution reached what it was started for; unknown until it has ended (requirements AMB-169). */
function success(status: WorkflowExecutionStatus): Condition['status'] {
  if (!isTerminal(status)) return 'Unknown';
  return succeeded(status) ? 'True' : 'False';
}

const endReasons: Partial<Readonly<Record<Phase, string>>> = {
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

function showRefusals(draft: Draft): void {
  const { status } = draft;
  const { blocked, unstored } = draft.facts;
  // Outputs that are read again and have yet to be stored.
  if (unstored !== undefined && !draft.hasProgress) show(status, unstored);
  // What was refused is nobody's business any more once nothing is wanted.
  if (blocked !== undefined && draft.acts) show(status, blocked);
}

function show(status: WorkflowExecutionStatus, { reason, message }: Blockage): void {
  status.reason = reason;
  status.message = message;
}

/** The conditions and the observed generation, worked out from the rest of the status in one place. */
export function summarise(draft: Draft): void {
  const { status } = draft;
  const { execution } = draft.facts;
  if (!isTerminal(status)) showRefusals(draft);
  if (status.message !== undefined) status.message = cutMiddle(status.message, messageLength);
  const { reason = 'Pending', message = '', phase } = status;
  const end = endReasons[phase];
  const verdicts = [
    { type: conditionTypes.succeeded, status: success(status), reason, message },
    {
      type: conditionTypes.finished,
      status: end === undefined ? 'False' : 'True',
      reason: end ?? 'InProgress',
      message: '',
    },
  ] as const;
  status.observedGeneration = execution.metadata.generation;
  status.conditions = verdicts.map((verdict) => nextCondition(execution, verdict, draft.now));
}
