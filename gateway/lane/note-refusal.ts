import type { AuditChain } from '../../lib/audit-chain/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { EnvelopeError, type EnvelopeFault, sessionKey } from '../../lib/envelope/index.ts';
import { createRejectionBudget } from '../../lib/rejection-budget.ts';
import { mismatch } from '../identity/tenancy.ts';

/**
 * Writes an event for a call of a known session that its envelope does not prove. A call that names no session is of no
 * tenant, and is not written: strangers could fill the store. Never rejects.
 */
export type NoteRefusal = (error: unknown, tool: string) => Promise<void>;

/** Events of one session at once, and each second from then on. */
const events = { burst: 10, perSecond: 1 };

/** Refusals before the signature is proved: any sender can cause them, and it need not be the agent. */
const unproved: ReadonlySet<EnvelopeFault> = new Set(['session_expired', 'token_invalid', 'signature_invalid']);

export function createRefusalNotes({
  audit,
  clock,
}: {
  readonly audit: AuditChain;
  readonly clock: Clock;
}): NoteRefusal {
  const budget = createRejectionBudget(clock, events);
  return async (error, tool) => {
    if (!(error instanceof EnvelopeError) || error.session === undefined) return;
    // Each of these was signed for itself. All others come again as often as a stranger sends them.
    const verdict = error.fault === 'out_of_session' ? freely : budget(sessionKey(error.session));
    if (!verdict.mayTell) return;
    // A refusal that cannot be written is a refusal still.
    await audit.append(eventOf(error, error.session, { tool, leftOut: verdict.leftOut })).catch(() => undefined);
  };
}

const freely = { mayTell: true, leftOut: 0 } as const;

interface Noted {
  readonly tool: string;
  /** Refusals of the session before this one that have no event. */
  readonly leftOut: number;
}

function eventOf(error: EnvelopeError, session: NonNullable<EnvelopeError['session']>, { tool, leftOut }: Noted) {
  const { asserted, fault } = error;
  const { tenant, agent_id: agentId, execution_id } = session;
  const more = leftOut === 0 ? {} : { left_out: leftOut };
  const isUnproved = unproved.has(fault);
  const subject = isUnproved ? 'unproved' : agentId || execution_id;
  if (asserted !== undefined) {
    const event = mismatch({ subject, asserted, expected: tenant });
    return { ...event, data: { ...event.data, ...more } };
  }
  const name = tool.slice(0, 128).toWellFormed();
  const about = isUnproved ? { claimed_tool: name } : { tool: name };
  const data = { ...about, reason: fault, execution_id, ...more };
  return { type: 'ToolInvocationRefused', tenant, subject, data } as const;
}
