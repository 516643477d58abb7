import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { createRejectionBudget } from '../rejection-budget.ts';
import { mismatch } from '../tenant/mismatch.ts';
import type { ToolRefusal } from '../tools/tool.ts';
import { EnvelopeError, type EnvelopeFault } from './envelope-error.ts';
import { type HeardSession, type SealSession, sessionKey, sessionSubject } from './sessions.ts';

/**
 * Writes an event for a call of a known session that its envelope does not prove, and resolves to the error that answers the
 * call. A call that names no session is of no tenant, and is not written: strangers could fill the store. Neither is a call of a
 * revoked session without a token of it. Never rejects.
 */
export type NoteRefusal = (error: unknown, tool: string) => Promise<unknown>;

/** The event of a call that was refused, in the record of the tenant of its session. */
export interface RefusalEvent {
  readonly type: 'ToolInvocationRefused' | 'TenantMismatch';
  readonly tenant: string | undefined;
  /** The agent of the session, or its execution; `unproved` where another sender may have made the call. */
  readonly subject: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Events of one session at once, and each second from then on. */
const events = { burst: 10, perSecond: 1 };
/**
 * Mismatches that the tokens of one tenant cause, in all sessions together. Each has its event (spec 3 §5.4), and a
 * valid token of one tenant would fill the audit of another. So a call beyond these is refused before it counts as one,
 * and the next event says how many (ADR 0116).
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
  readonly clock: Clock;
  /** Stores an event; rejects where one of `TenantMismatch` cannot be stored. Any other refusal is one without its event. */
  readonly write: (event: RefusalEvent, session: HeardSession) => Promise<void> | void;
}

export function createRefusalNotes({ clock, write }: NoteDeps): NoteRefusal {
  const ofSession = createRejectionBudget(clock, events);
  const ofTenant = createRejectionBudget(clock, mismatches);
  return async (error, tool) => {
    if (!(error instanceof EnvelopeError) || error.session === undefined) return error;
    const { asserted, fault, session } = error;
    if (asserted !== undefined) {
      const isProved = fault === 'tenant_mismatch';
      const verdict = isProved ? freely : ofTenant(asserted);
      if (!verdict.mayTell) return tooMany(asserted);
      const subject = isProved ? sessionSubject(session) : 'unproved';
      const { leftOut } = verdict;
      const event = mismatch({ subject, asserted, expected: session.tenant, leftOut });
      // Each has its event: one that cannot be stored is the answer of the call.
      return Promise.resolve(write(event, session)).then(
        () => error,
        (problem: unknown) => problem,
      );
    }
    // Each of these was signed for itself. All others come again as often as a stranger sends them.
    const verdict = fault === 'out_of_session' ? freely : ofSession(sessionKey(session));
    if (verdict.mayTell) await write(unprovedCall(fault, session, { tool, leftOut: verdict.leftOut }), session);
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

function unprovedCall(fault: EnvelopeFault, session: HeardSession, { tool, leftOut }: Noted): RefusalEvent {
  const { tenant, execution_id } = session;
  const isUnproved = unproved.has(fault);
  const subject = isUnproved ? 'unproved' : sessionSubject(session);
  const about = isUnproved ? { claimed_tool: written(tool) } : { tool: written(tool) };
  const data = { ...about, reason: fault, execution_id, ...(leftOut === 0 ? {} : { left_out: leftOut }) };
  return { type: 'ToolInvocationRefused', tenant, subject, data };
}

/** The event of a proved call that a policy, its arguments or the count of calls refuse. */
export function refusedCall(session: SealSession, tool: string, { code }: Pick<ToolRefusal, 'code'>): RefusalEvent {
  const { execution_id } = session;
  const data = { tool: written(tool), execution_id, reason: code };
  // A session of the bypass belongs to no tenant.
  const tenant = session.tenant === '' ? undefined : session.tenant;
  return { type: 'ToolInvocationRefused', tenant, subject: sessionSubject(session), data };
}

/** A name as a caller wrote it, cut to what an event may hold. */
const written = (tool: string): string => tool.slice(0, 128).toWellFormed();
