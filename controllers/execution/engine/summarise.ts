import { conditionTypes } from '../../../crds/conditions.ts';
import type { Condition } from '../../../crds/schema/condition.ts';
import type { Phase } from '../../../crds/schema/workflow-execution-status.ts';
import { cutMiddle } from '../../../lib/cut-text.ts';
import { isTerminal, succeeded } from '../../../lib/execution/finished.ts';
import { nextCondition } from '../../runtime/next-condition.ts';
import type { Draft } from './draft.ts';
import type { Blockage } from './facts.ts';
import type { StatusView } from './reduce.ts';

/** Longest message of a condition, in characters. */
const messageLength = 1_024;

/** Whether the execution reached what it was started for; unknown until it has ended (requirements AMB-169). */
function success(status: StatusView): Condition['status'] {
  if (!isTerminal(status)) return 'Unknown';
  return succeeded(status) ? 'True' : 'False';
}

const endReasons: Partial<Readonly<Record<Phase, string>>> = {
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

function showRefusals(draft: Draft): void {
  const { blocked, unstored } = draft.facts;
  // Outputs that are read again and have yet to be stored.
  if (unstored !== undefined && !draft.hasProgress) show(draft, unstored);
  // A refusal does not matter once nothing is wanted.
  if (blocked !== undefined && draft.acts) show(draft, blocked);
}

const show = (draft: Draft, { reason, message }: Blockage): void =>
  draft.change({ kind: 'status', fields: { reason, message } });

/** The conditions and the observed generation, worked out from the rest of the status in one place. */
export function summarise(draft: Draft): void {
  const { status } = draft;
  const { execution } = draft.facts;
  if (!isTerminal(status)) showRefusals(draft);
  const { reason = 'Pending', phase } = status;
  const shown = status.message === undefined ? {} : { message: cutMiddle(status.message, messageLength) };
  const { message = '' } = shown;
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
  const conditions = verdicts.map((verdict) => nextCondition(execution, verdict, draft.now));
  draft.change({
    kind: 'status',
    fields: { ...shown, observedGeneration: execution.metadata.generation, conditions },
  });
}
