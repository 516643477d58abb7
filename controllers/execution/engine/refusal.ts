import { conditionTypes } from '../../../crds/conditions.ts';
import type { WorkflowExecutionStatus } from '../../../crds/schema/workflow-execution-status.ts';
import { defined } from '../../../lib/defined.ts';
import { cutMiddle } from '../../../lib/cut-text.ts';
import { nextCondition } from '../../runtime/next-condition.ts';
import type { Decision } from './decision.ts';
import { endStimulus } from './end-stimulus.ts';
import type { Facts, Failure } from './facts.ts';

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
 * The end of an execution whose decisions cannot be written: the status that the API server has taken before, and
 * its failure. Its remaining work is decided on that.
 */
export function bareFailure(facts: Facts, { reason, message: why }: Failure, now: number): Decision {
  const { execution } = facts;
  const { current: _, ...before } = execution.status ?? {};
  const message = cutMiddle(why, messageLength);
  const verdict = { type: conditionTypes.succeeded, status: 'False', reason, message } as const;
  const status: WorkflowExecutionStatus = {
    ...before,
    ...(execution.status?.finished_at === undefined && defined({ stimulus: endStimulus(facts) })),
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
