import type { Clock } from '../../lib/clock.ts';
import {
  activeSession,
  EnvelopeError,
  envelopeLimits,
  type ProveEnvelope,
  type ProveSession,
  type SealSessions,
} from '../../lib/envelope/index.ts';
import { matchesAny } from '../../lib/tools/name-pattern.ts';

interface BypassDeps {
  readonly clock: Clock;
  readonly sessions: Pick<SealSessions, 'find'>;
}

/**
 * The development bypass (spec 3 §5.3): neither token nor signature is looked at, and the call belongs to no tenant. An
 * execution that has a session of no tenant keeps to its state and patterns; another one gets a session for this call.
 */
export function createBypassProof({ clock, sessions }: BypassDeps): ProveEnvelope {
  const prove = createBypassSession({ clock, sessions });
  return async (envelope) => {
    const { tool } = envelope;
    const session = await prove(envelope);
    if (matchesAny(session.allowed_tool_patterns, tool)) return session;
    throw new EnvelopeError('out_of_session', `the session does not permit the tool ${tool.slice(0, 128)}`);
  };
}

/** The same for a request that calls no tool. */
export function createBypassSession({ clock, sessions }: BypassDeps): ProveSession {
  return async ({ session }) => {
    const found = await sessions.find(session);
    if (found === undefined) return { ...passing, execution_id: session.execution_id, expires_at: inAnHour(clock) };
    return { ...activeSession(found, clock.now()), tenant: '' };
  };
}

const inAnHour = (clock: Clock): string => new Date(clock.now() + envelopeLimits.sessionMs).toISOString();

const passing = {
  session_id: 'bypass',
  agent_id: 'anonymous',
  public_key: '',
  pod_uid: '',
  security_context: 'default',
  tenant: '',
  allowed_tool_patterns: ['*'],
} as const;
