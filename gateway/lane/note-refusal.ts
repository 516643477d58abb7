import type { AuditChain } from '../../lib/audit-chain/index.ts';
import type { Clock } from '../../lib/clock.ts';
import {
  EnvelopeError,
  type EnvelopeFault,
  type HeardSession,
  sessionKey,
  subjectOf,
} from '../../lib/envelope/index.ts';
import { AppError } from '../../lib/errors.ts';
import { createRejectionBudget } from '../../lib/rejection-budget.ts';
import { mismatch } from '../identity/tenancy.ts';

/**
 * Writes an event for a call of a known session that its envelope does not prove, and resolves to the error that answers the
 * call. A call that names no session is of no tenant, and is not written: strangers could fill the store. Neither is a call of a
 * revoked session without a token of it. Never rejects.
 */
export type NoteRefusal = (error: unknown, tool: string) => Promise<unknown>;

/** Events of one session at once, and each second from then on. */
const events = { burst: 10, perSecond: 1 };
/**
 * Mismatches that the tokens of one tenant cause, in all sessions together. Each has its event (spec 3 §5.4), so that a call
 * beyond these is refused before it counts as one: a valid token of one tenant would fill the audit of another.
 */
const mismatches = { burst: 100, perSecond: 1 };

/** Refusals before the signature is proved: any sender can cause them, and it need not be the agent. */
const unproved: ReadonlySet<EnvelopeFault> = new Set([
  'session_inactive',
  'session_expired',
  'token_invalid',
  'signature_invalid',
]);

interface NoteDeps {
  readonly audit: AuditChain;
  readonly clock: Clock;
}

export function createRefusalNotes({ audit, clock }: NoteDeps): NoteRefusal {
  const ofSession = createRejectionBudget(clock, events);
  const ofTenant = createRejectionBudget(clock, mismatches);
  // A refusal that cannot be written is a refusal still.
  const write = (event: Parameters<AuditChain['append']>[0]): Promise<void> =>
    audit.append(event).catch(() => undefined);
  return async (error, tool) => {
    if (!(error instanceof EnvelopeError) || error.session === undefined) return error;
    const { asserted, fault, session } = error;
    if (asserted !== undefined) {
      const isProved = fault === 'tenant_mismatch';
      if (!isProved && !ofTenant(asserted).mayTell) return tooMany(asserted);
      const subject = isProved ? subjectOf(session) : 'unproved';
      await write(mismatch({ subject, asserted, expected: session.tenant }));
      return error;
    }
    // Each of these was signed for itself. All others come again as often as a stranger sends them.
    const verdict = fault === 'out_of_session' ? freely : ofSession(sessionKey(session));
    if (verdict.mayTell) await write(refusal(fault, session, { tool, leftOut: verdict.leftOut }));
    return error;
  };
}

const freely = { mayTell: true, leftOut: 0 } as const;

const tooMany = (tenant: string): AppError =>
  new AppError('limit_exceeded', `tokens of tenant ${tenant} name sessions of others too often`);

interface Noted {
  readonly tool: string;
  /** Refusals of the session before this one that have no event. */
  readonly leftOut: number;
}

function refusal(fault: EnvelopeFault, session: HeardSession, { tool, leftOut }: Noted) {
  const { tenant, execution_id } = session;
  const isUnproved = unproved.has(fault);
  const subject = isUnproved ? 'unproved' : subjectOf(session);
  const name = tool.slice(0, 128).toWellFormed();
  const about = isUnproved ? { claimed_tool: name } : { tool: name };
  const data = { ...about, reason: fault, execution_id, ...(leftOut === 0 ? {} : { left_out: leftOut }) };
  return { type: 'ToolInvocationRefused', tenant, subject, data } as const;
}
