import { annotations } from '../../crds/labels.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { TenantDirectory } from '../tenant/tenant-directory.ts';

/** Where the conversation of an execution is: a fact of its claim, whatever becomes of its namespace (ADR 0148). */
export interface ConversationPlace {
  /** Tenant whose log has it. */
  readonly tenant: string;
  /** Sequence of the last message of that log when the execution was claimed: all records of the conversation are behind it. */
  readonly behind: number;
}

/** As the annotation has it. A slug has no slash. */
export const placeText = ({ tenant, behind }: ConversationPlace): string => `${tenant}/${behind}`;

/** Undefined where the execution is not claimed, or was claimed by a version that wrote no place. */
export function conversationPlaceOf({ metadata }: AgentExecution): ConversationPlace | undefined {
  const [tenant = '', behind] = metadata.annotations?.[annotations.conversation]?.split('/') ?? [];
  return behind === undefined ? undefined : { tenant, behind: Number(behind) };
}

/** Tenant whose log has the conversation of an execution; undefined where no log can have it. */
export const logTenantOf = (
  execution: AgentExecution,
  { tenantOf }: Pick<TenantDirectory, 'tenantOf'>,
): string | undefined => conversationPlaceOf(execution)?.tenant ?? tenantOf(execution.metadata.namespace ?? '');
