import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import { envelopeLimits } from './limits.ts';
import { readNewPublicKey } from './public-key.ts';
import type { SealKey } from './seal-key.ts';
import type { SealSession, SealSessions } from './sessions.ts';
import { issueToken } from './token.ts';

export interface IssueSessionDeps {
  readonly key: SealKey;
  readonly sessions: SealSessions;
  readonly clock: Clock;
  readonly newId: NewId;
}

/** Whose session it is. The caller has proved that the pod may have it. */
export interface SessionRequest {
  readonly executionId: string;
  readonly agentId?: string;
  readonly podUid: string;
  readonly tenant: string;
  /** Base64 of the raw Ed25519 key of the pod. */
  readonly publicKey: string;
  /** Name of the SecurityContext. */
  readonly securityContext: string;
  /** Default: every tool. */
  readonly allowedToolPatterns?: readonly string[];
  /** Tools that a person must approve. Default: none. */
  readonly waitingToolPatterns?: readonly string[];
  /** RFC 3339. Default: in an hour. In seven days at most. */
  readonly expiresAt?: string;
}

/** The answer of an attestation (spec 1 §4.4). */
export interface IssuedSession {
  readonly security_token: string;
  readonly session_id: string;
  readonly expires_at: string;
}

/**
 * Makes a session for an execution, with the token that belongs to it (requirements ATTEST-07, ATTEST-08). The same pod
 * with the same key gets the session that it has again; the session of another pod is replaced.
 * @throws AppError `invalid` for a key that is not acceptable; `conflict` for another key of the same pod, and where the
 * execution's session is revoked.
 */
export async function issueSession(deps: IssueSessionDeps, request: SessionRequest): Promise<IssuedSession> {
  readNewPublicKey(request.publicKey, 'agent_public_key');
  const now = deps.clock.now();
  const wanted = request.expiresAt === undefined ? now + envelopeLimits.sessionMs : Date.parse(request.expiresAt);
  const end = Math.min(wanted, now + envelopeLimits.longestSessionMs);
  const session: SealSession = {
    execution_id: request.executionId,
    session_id: `${deps.newId()}${deps.newId()}`,
    agent_id: request.agentId ?? '',
    public_key: request.publicKey,
    pod_uid: request.podUid,
    security_context: request.securityContext,
    tenant: request.tenant,
    allowed_tool_patterns: request.allowedToolPatterns ?? ['*'],
    ...(request.waitingToolPatterns === undefined ? {} : { waiting_tool_patterns: request.waitingToolPatterns }),
    expires_at: new Date(Math.floor(end / 1_000) * 1_000).toISOString(),
  };
  return tokenFor(deps, await deps.sessions.create(session));
}

async function tokenFor({ key, clock }: IssueSessionDeps, session: SealSession): Promise<IssuedSession> {
  const { session_id, security_context: scp, tenant: tenant_id, expires_at } = session;
  const iat = Math.floor(clock.now() / 1_000);
  const exp = Date.parse(expires_at) / 1_000;
  return {
    security_token: await issueToken(key, { jti: session_id, scp, tenant_id, iat, exp }),
    session_id,
    expires_at,
  };
}
