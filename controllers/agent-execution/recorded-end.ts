import type { AgentExecutionReason } from '../../crds/conditions.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { EventBus, TenantLogs } from '../../lib/bus/index.ts';
import type { ConversationRecord } from '../../lib/conversation/record.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import type { End } from './decide.ts';

/**
 * When the conversation of an execution ended by itself, RFC 3339. Undefined where it has not, or where the event bus does
 * not say. Never rejects.
 */
export type RecordedEnd = (execution: AgentExecution) => Promise<string | undefined>;

interface RecordedEndDeps {
  readonly bus: Pick<EventBus, 'problem'>;
  readonly logs: Pick<TenantLogs, 'peek'>;
  readonly tenants: Pick<TenantDirectory, 'tenantOf'>;
}

const timeout: AgentExecutionReason = 'Timeout';

export function createRecordedEnd({ bus, logs, tenants }: RecordedEndDeps): RecordedEnd {
  return async ({ metadata: { uid: key = '', namespace = '' } }) => {
    const tenant = tenants.tenantOf(namespace);
    // Nothing waits for a bus that is away: the execution is over in any case.
    if (tenant === undefined || bus.problem() !== undefined) return undefined;
    try {
      const last = await logs.peek({ tenant, key });
      return last && endIn(JSON.parse(Buffer.from(last.body).toString()) as ConversationRecord);
    } catch {
      // Neither a bus that went away nor a record of another version keeps an execution from its end.
      return undefined;
    }
  };
}

/** A driver says `Timeout` itself at the deadline. */
const endIn = (record: ConversationRecord): string | undefined =>
  record.kind === 'ended' && record.result.reason !== timeout ? record.at : undefined;

/** The end with what the conversation says of it: an answer whose storing took too long is none of the agent's faults. */
export async function withRecordedEnd(
  { recordedEnd }: { readonly recordedEnd: RecordedEnd },
  execution: AgentExecution,
  end: End,
): Promise<End> {
  if (end.reason !== timeout || execution.spec.result !== undefined) return end;
  const at = await recordedEnd(execution);
  if (at === undefined) return end;
  return {
    ...end,
    message: `${end.message}; its conversation ended at ${at}, and Kubernetes stored no outcome in time`,
  };
}
