import { conditionTypes } from '../../../crds/conditions.ts';
import type { WorkflowExecutionStatus } from '../../../crds/schema/workflow-execution-status.ts';
import { cutMiddle } from '../../../lib/cut-text.ts';
import { nextCondition } from '../../runtime/next-condition.ts';
import type { Decision } from './decision.ts';
import type { Facts, Failure } from './facts.ts';

/**
 * What was decided cannot be had: the output store had no room for it (design §5), or the status would be larger than a
 * status may be, or the API server refused it, or deciding took more work than one turn may (design §11). Decided again, the execution goes on by one state only, so that
 * those before the one that is at fault are kept; where that is too much as well, this state fails; and where nothing
 * smaller helps, the execution does.
 */
export interface Refusal {
  readonly failure: Failure;
  readonly consequence: 'one_state' | 'state_fails' | 'execution_fails';
}

const consequences = ['one_state', 'state_fails', 'execution_fails'] as const;

/**
 * The facts after a refusal, one consequence harder each time; the first is left out where the state was `alone` in its
 * turn. Undefined where not even a failed execution fits.
 */
export function refuse(facts: Facts, failure: Failure, alone = false): Facts | undefined {
  const first = alone ? 0 : -1;
  const last = facts.refused === undefined ? first : consequences.indexOf(facts.refused.consequence);
  const consequence = consequences[last + 1];
  return consequence === undefined ? undefined : { ...facts, refused: { failure, consequence } };
}

/** Longest message of a condition, in characters. */
const messageLength = 1_024;

/**
 * The end of an execution of which nothing that was decided can be written: what the API server has taken before, and
 * that it failed. What is left to do for it is decided on that.
 */
export function bareFailure({ execution }: Facts, { reason, message: why }: Failure, now: number): Decision {
  const { current: _, ...before } = execution.status ?? {};
  const message = cutMiddle(why, messageLength);
  const verdict = { type: conditionTypes.succeeded, status: 'False', reason, message } as const;
  const status: WorkflowExecutionStatus = {
    ...before,
    phase: 'failed',
    reason,
    message,
    finished_at: new Date(now).toISOString(),
    observedGeneration: execution.metadata.generation,
    conditions: [nextCondition(execution, verdict, now)],
  };
  const happenings = [{ type: 'Warning', reason, message }] as const;
  return { kind: 'decision', status, blobs: [], adopted: [], actions: [], happenings, wakeAt: now };
}
