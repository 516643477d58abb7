import type { AgentExecutionReason } from '../../../crds/conditions.ts';
import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { notConfiguredProblem } from '../../../lib/bus/absent-bus.ts';
import type { EventBus, TenantLogs } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { logTenantOf } from '../../../lib/conversation/place.ts';
import type { ConversationRecord } from '../../../lib/conversation/record.ts';
import { messageOf } from '../../../lib/errors.ts';
import { createSilences } from '../../../lib/silences.ts';
import type { TenantDirectory } from '../../../lib/tenant/tenant-directory.ts';
import type { End, Reasoned } from '../decide.ts';
import { agentLimits } from '../limits.ts';

/** Whether the conversation of an execution has ended by itself, and when, RFC 3339. */
type ConversationEnd =
  | { readonly kind: 'ended'; readonly at: string }
  | { readonly kind: 'open' }
  /** The event bus does not say. `isForGood`: it is there, and has not said for so long that nothing waits for it any more. */
  | { readonly kind: 'unknown'; readonly problem: string; readonly isForGood?: true };

/** Never rejects. */
export type RecordedEnd = (execution: AgentExecution) => Promise<ConversationEnd>;

interface RecordedEndDeps {
  readonly bus: Pick<EventBus, 'problem'>;
  readonly logs: Pick<TenantLogs, 'peek'>;
  readonly tenants: Pick<TenantDirectory, 'tenantOf'>;
  readonly clock: Pick<Clock, 'steadyMs'>;
}

const timeout: AgentExecutionReason = 'Timeout';

/** For so long an event bus that is there may not answer, such as one whose account lacks a permission. */
export const untoldMs = 5 * 60_000;
/** Two questions about one execution are 15 s apart, or more where the queue is long. */
const apartMs = untoldMs / 2;
/** Executions whose questions without an answer are remembered. */
const remembered = 10_000;

export function createRecordedEnd({ bus, logs, tenants, clock }: RecordedEndDeps): RecordedEnd {
  const silences = createSilences({ now: () => clock.steadyMs(), apartMs, remembered });
  return async (execution) => {
    const { uid: key = '' } = execution.metadata;
    const tenant = logTenantOf(execution, tenants);
    const problem = bus.problem();
    if (tenant === undefined || problem === notConfiguredProblem) return { kind: 'open' };
    // Nothing waits here for a bus that is away.
    if (problem !== undefined) return { kind: 'unknown', problem };
    try {
      const end = endIn(await logs.peek({ tenant, key }));
      silences.end(key);
      return end;
    } catch (error) {
      const isForGood = silences.again(key).lastsMs >= untoldMs;
      return { kind: 'unknown', problem: messageOf(error), ...(isForGood ? { isForGood } : {}) };
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

interface Asked {
  readonly recordedEnd: RecordedEnd;
}

/** The verdict on an execution whose pod failed, or why there is none yet. */
interface EndByPod extends Reasoned {
  readonly isPending: boolean;
}

/**
 * The outcome of the conversation may be on its way, and counts then whatever became of the pod. The deadline bounds the wait for it, and
 * `untoldMs` the wait for an event bus that is there.
 */
export async function endByPod({ recordedEnd }: Asked, execution: AgentExecution, why: Reasoned): Promise<EndByPod> {
  const end = await recordedEnd(execution);
  if (end.kind === 'open') return { ...why, isPending: false };
  if (end.kind === 'ended' || end.isForGood !== true)
    return {
      ...pending(end, 'the pod has ended, and the event bus does not say whether the conversation has'),
      isPending: true,
    };
  const untold = `the event bus did not say in ${untoldMs / 60_000} minutes whether the conversation had ended`;
  return { reason: why.reason, message: `${why.message}; ${untold}: ${end.problem}`, isPending: false };
}

const pending = (end: Exclude<ConversationEnd, { kind: 'open' }>, unknown: string): Reasoned => ({
  reason: 'OutcomePending',
  message:
    end.kind === 'ended'
      ? `the conversation ended at ${end.at}, and its outcome is not stored yet`
      : `${unknown}: ${end.problem}`,
});

const isOutOfTime = (end: End, { spec }: AgentExecution): boolean =>
  end.reason === timeout && spec.result === undefined;

/**
 * Why an execution that is out of time gets no verdict yet, and when to look again: a driver of any replica still writes the answer
 * that its conversation has, which is from before the deadline.
 */
export async function lateOutcome(
  { recordedEnd, clock }: Asked & { readonly clock: Pick<Clock, 'now'> },
  execution: AgentExecution,
  end: End,
): Promise<{ readonly why: Reasoned; readonly againMs: number } | undefined> {
  const left = Date.parse(execution.status?.deadline ?? '') + agentLimits.lateOutcomeMs - clock.now();
  if (!isOutOfTime(end, execution) || !(left > 0)) return undefined;
  const found = await recordedEnd(execution);
  if (found.kind === 'open' || (found.kind === 'unknown' && found.isForGood === true)) return undefined;
  const why = pending(found, 'its time is over, and the event bus does not say whether it has an answer');
  return { why, againMs: Math.min(left, agentLimits.outcomeMs) };
}

/** Adds to a timeout how the conversation ended: the agent is not at fault for an answer that was stored too late. */
export async function withRecordedEnd({ recordedEnd }: Asked, execution: AgentExecution, end: End): Promise<End> {
  if (!isOutOfTime(end, execution)) return end;
  const recorded = await recordedEnd(execution);
  switch (recorded.kind) {
    case 'ended': {
      const late = `its conversation ended at ${recorded.at}, and Kubernetes stored no outcome in time`;
      return { ...end, message: `${end.message}; ${late}` };
    }
    case 'unknown':
      return {
        ...end,
        message: `${end.message}; the event bus does not say whether its conversation has ended: ${recorded.problem}`,
      };
    case 'open':
      return end;
  }
}
