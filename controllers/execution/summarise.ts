import { conditionTypes } from '../../crds/conditions.ts';
import type { Condition } from '../../crds/schema/condition.ts';
import type { Phase } from '../../crds/schema/workflow-execution-status.ts';
import { cutText } from '../../lib/cut-text.ts';
import { nextCondition } from '../runtime/next-condition.ts';
import type { Draft } from './draft.ts';

/** Longest message of a condition, in characters. */
const messageLength = 1_024;

const truth: Readonly<Record<Phase, Condition['status']>> = {
  pending: 'Unknown',
  running: 'Unknown',
  waiting: 'Unknown',
  completed: 'True',
  failed: 'False',
  cancelled: 'False',
};

/** The condition `Succeeded` and the observed generation, worked out from the rest of the status in one place. */
export function summarise(draft: Draft): void {
  const { status } = draft;
  const { blocked, execution } = draft.facts;
  if (blocked !== undefined && truth[status.phase] === 'Unknown') Object.assign(status, blocked);
  if (status.message !== undefined) status.message = cutText(status.message, messageLength);
  const { reason = 'Pending', message = '' } = status;
  const verdict = { type: conditionTypes.succeeded, status: truth[status.phase], reason, message };
  status.observedGeneration = execution.metadata.generation;
  status.conditions = [nextCondition(execution, verdict, draft.now)];
}
