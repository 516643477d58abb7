import type { AuditChain } from '../../lib/audit-chain/index.ts';
import { EnvelopeError } from '../../lib/envelope/index.ts';
import { mismatch } from '../identity/tenancy.ts';

/**
 * One event for a call of a known session that its envelope does not prove. A call that names no session is of no tenant,
 * and is not written: strangers could fill the store.
 */
export async function noteRefusal(audit: AuditChain, error: unknown, tool: string): Promise<void> {
  if (!(error instanceof EnvelopeError) || error.session === undefined) return;
  const { tenant, agent_id: agentId, execution_id } = error.session;
  const subject = agentId || execution_id;
  const data = { tool: tool.slice(0, 128), reason: error.fault, execution_id };
  const event =
    error.asserted === undefined
      ? ({ type: 'ToolInvocationRefused', tenant, subject, data } as const)
      : mismatch({ subject, asserted: error.asserted, expected: tenant });
  // A refusal that cannot be written is a refusal still.
  await audit.append(event).catch(() => undefined);
}
