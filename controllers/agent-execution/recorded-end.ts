import type { AgentExecutionReason } from '../../crds/conditions.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { notConfiguredProblem } from '../../lib/bus/absent-bus.ts';
import type { EventBus, TenantLogs } from '../../lib/bus/index.ts';
import { logTenantOf } from '../../lib/conversation/place.ts';
import type { ConversationRecord } from '../../lib/conversation/record.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import type { End, Reasoned } from './decide.ts';

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
export async function outcomePending(
  { recordedEnd }: { readonly recordedEnd: RecordedEnd },
  execution: AgentExecution,
): Promise<Reasoned | undefined> {
  const end = await recordedEnd(execution);
  if (end.kind === 'open') return undefined;
  const message =
    end.kind === 'ended'
      ? `the conversation ended at ${end.at}, and its outcome is not stored yet`
      : 'the pod has ended, and the event bus does not say whether the conversation has';
  return { reason: 'OutcomePending', message };
}

/** The end with what the conversation says of it: an answer whose storing took too long is none of the agent's faults. */
export async function withRecordedEnd(
  { recordedEnd }: { readonly recordedEnd: RecordedEnd },
  execution: AgentExecution,
  end: End,
): Promise<End> {
  if (end.reason !== timeout || execution.spec.result !== undefined) return end;
  const recorded = await recordedEnd(execution);
  if (recorded.kind !== 'ended') return end;
  return {
    ...end,
    message: `${end.message}; its conversation ended at ${recorded.at}, and Kubernetes stored no outcome in time`,
  };
}
