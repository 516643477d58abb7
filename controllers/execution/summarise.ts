import { conditionTypes } from '../../crds/conditions.ts';
import type { Condition } from '../../crds/schema/condition.ts';
import type { Phase } from '../../crds/schema/workflow-execution-status.ts';
import { cutText } from '../../lib/cut-text.ts';
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
  const { blocked } = draft.facts;
  if (blocked !== undefined && truth[status.phase] === 'Unknown') Object.assign(status, blocked);
  const { generation } = draft.facts.execution.metadata;
  if (status.message !== undefined) status.message = cutText(status.message, messageLength);
  const before = status.conditions?.find(({ type }) => type === conditionTypes.succeeded);
  const value = truth[status.phase];
  const condition: Condition = {
    type: conditionTypes.succeeded,
    status: value,
    reason: status.reason ?? 'Pending',
    message: status.message ?? '',
    lastTransitionTime: before?.status === value ? before.lastTransitionTime : draft.time,
  };
  if (generation !== undefined) {
    condition.observedGeneration = generation;
    status.observedGeneration = generation;
  }
  status.conditions = [condition];
}
