import { conditionTypes } from '../../crds/conditions.ts';
import type { AgentExecution, AgentExecutionStatus } from '../../crds/schema/agent-execution.ts';
import { cutText } from '../../lib/cut-text.ts';
import { nextCondition } from '../runtime/next-condition.ts';
import type { End, Reasoned } from './decide.ts';
import { agentLimits } from './limits.ts';

/** `fields` over the status as it was; a reason is only there while it applies. */
export function statusWith(
  execution: AgentExecution,
  now: number,
  fields: Partial<AgentExecutionStatus>,
  why?: Reasoned,
): AgentExecutionStatus {
  const { reason: _reason, message: _message, ...before } = execution.status ?? {};
  const phase = fields.phase ?? before.phase ?? 'pending';
  const said = why ?? { reason: phaseReasons[phase] ?? 'Running', message: `the execution is ${phase}` };
  return {
    ...before,
    ...fields,
    phase,
    ...(why === undefined ? {} : { reason: why.reason, message: cutText(why.message, agentLimits.messageLength) }),
    ...observed(execution),
    conditions: [nextCondition(execution, unfinished(said), now)],
  };
}

const phaseReasons: Readonly<Record<string, string>> = { pending: 'Pending' };

const unfinished = ({ reason, message }: { readonly reason: string; readonly message: string }) =>
  ({ type: conditionTypes.succeeded, status: 'Unknown', reason, message }) as const;

/** The status that stays. */
export function endedStatus(execution: AgentExecution, now: number, end: End): AgentExecutionStatus {
  const { phase, reason, numbers = {} } = end;
  const message = cutText(end.message, agentLimits.messageLength);
  const status = phase === 'completed' ? ('True' as const) : ('False' as const);
  return {
    ...execution.status,
    ...numbers,
    phase,
    reason,
    message,
    finished_at: execution.spec.result?.at ?? new Date(now).toISOString(),
    ...observed(execution),
    conditions: [
      nextCondition(execution, { type: conditionTypes.succeeded, status, reason: word(reason), message }, now),
    ],
  };
}

/** A reason of a condition has a form that the one of an outcome need not have. */
const word = (reason: string): string => (/^[A-Za-z]([A-Za-z0-9_]*[A-Za-z0-9])?$/.test(reason) ? reason : 'Failed');

const observed = ({ metadata: { generation } }: AgentExecution): Pick<AgentExecutionStatus, 'observedGeneration'> =>
  generation === undefined ? {} : { observedGeneration: generation };
