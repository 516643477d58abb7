import type { AgentExecutionReason } from '../../crds/conditions.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { notConfiguredProblem } from '../../lib/bus/absent-bus.ts';
import type { EventBus, TenantLogs } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { logTenantOf } from '../../lib/conversation/place.ts';
import type { ConversationRecord } from '../../lib/conversation/record.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import type { End, Reasoned } from './decide.ts';
import { agentLimits } from './limits.ts';

/** Whether the conversation of an execution has ended by itself, and when, RFC 3339. */
type ConversationEnd =
  | { readonly kind: 'ended'; readonly at: string }
  | { readonly kind: 'open' }
  /** The event bus does not say. */
  | { readonly kind: 'unknown' };

/** Never rejects. */
export type RecordedEnd = (execution: AgentExecution) => Promise<ConversationEnd>;

interface RecordedEndDeps {
  readonly bus: Pick<EventBus, 'problem'>;
  readonly logs: Pick<TenantLogs, 'peek'>;
  readonly tenants: Pick<TenantDirectory, 'tenantOf'>;
}

const timeout: AgentExecutionReason = 'Timeout';

export function createRecordedEnd({ bus, logs, tenants }: RecordedEndDeps): RecordedEnd {
  return async (execution) => {
    const { uid: key = '' } = execution.metadata;
    const tenant = logTenantOf(execution, tenants);
    const problem = bus.problem();
    if (tenant === undefined || problem === notConfiguredProblem) return { kind: 'open' };
    // Nothing waits here for a bus that is away.
    if (problem !== undefined) return { kind: 'unknown' };
    try {
      return endIn(await logs.peek({ tenant, key }));
    } catch {
      return { kind: 'unknown' };
    }
  };
}

/** A driver says `Timeout` itself at the deadline. No record that cannot be read keeps an execution from its end. */
function endIn(last: { readonly body: Uint8Array } | undefined): ConversationEnd {
  const record = last && parsed(last.body);
  const isEnd = record?.kind === 'ended' && record.result.reason !== timeout;
  return isEnd ? { kind: 'ended', at: record.at } : { kind: 'open' };
}

function parsed(body: Uint8Array): ConversationRecord | undefined {
  try {
    return JSON.parse(Buffer.from(body).toString()) as ConversationRecord;
  } catch {
    return undefined;
  }
}

/**
 * Why an execution whose pod failed gets no verdict yet: its outcome is on its way, or may be. The deadline bounds the wait.
 */
export const outcomePending = (deps: Asked, execution: AgentExecution): Promise<Reasoned | undefined> =>
  pending(deps, execution, 'the pod has ended, and the event bus does not say whether the conversation has');

interface Asked {
  readonly recordedEnd: RecordedEnd;
}

async function pending(
  { recordedEnd }: Asked,
  execution: AgentExecution,
  unknown: string,
): Promise<Reasoned | undefined> {
  const end = await recordedEnd(execution);
  if (end.kind === 'open') return undefined;
  const ended = end.kind === 'ended' && `the conversation ended at ${end.at}, and its outcome is not stored yet`;
  return { reason: 'OutcomePending', message: ended || unknown };
}

const isOutOfTime = (end: End, { spec }: AgentExecution): boolean =>
  end.reason === timeout && spec.result === undefined;

/**
 * Why an execution that is out of time gets no verdict yet, and when to look again: a driver of any replica still writes the answer
 * that its conversation has, which is from before the deadline.
 */
export async function lateOutcome(
  deps: Asked & { readonly clock: Pick<Clock, 'now'> },
  execution: AgentExecution,
  end: End,
): Promise<{ readonly why: Reasoned; readonly againMs: number } | undefined> {
  const left = Date.parse(execution.status?.deadline ?? '') + agentLimits.lateOutcomeMs - deps.clock.now();
  if (!isOutOfTime(end, execution) || !(left > 0)) return undefined;
  const why = await pending(
    deps,
    execution,
    'its time is over, and the event bus does not say whether it has an answer',
  );
  return why && { why, againMs: Math.min(left, agentLimits.outcomeMs) };
}

/** The end with what the conversation says of it: an answer whose storing took too long is none of the agent's faults. */
export async function withRecordedEnd({ recordedEnd }: Asked, execution: AgentExecution, end: End): Promise<End> {
  if (!isOutOfTime(end, execution)) return end;
  const recorded = await recordedEnd(execution);
  switch (recorded.kind) {
    case 'ended': {
      const late = `its conversation ended at ${recorded.at}, and Kubernetes stored no outcome in time`;
      return { ...end, message: `${end.message}; ${late}` };
    }
    case 'unknown':
      return { ...end, message: `${end.message}; the event bus does not say whether its conversation has ended` };
    case 'open':
      return end;
  }
}
