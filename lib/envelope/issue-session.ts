import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import { envelopeLimits } from './limits.ts';
import { readPublicKey } from './public-key.ts';
import type { SealKey } from './seal-key.ts';
import type { Sessions } from './sessions.ts';
import { issueToken } from './token.ts';

export interface IssueSessionDeps {
  readonly key: SealKey;
  readonly sessions: Sessions;
  readonly clock: Clock;
  readonly newId: NewId;
}

/** Whose session it is. The caller has proved that the pod may have it. */
export interface SessionRequest {
  readonly executionId: string;
  readonly agentId: string;
  readonly podUid: string;
  readonly tenant: string;
  /** Base64 of the raw Ed25519 key of the pod. */
  readonly publicKey: string;
  /** Name of the SecurityContext. */
  readonly securityContext: string;
  /** Default: every tool. */
  readonly allowedToolPatterns?: readonly string[];
  /** Default: one hour. At most seven days. */
  readonly lifetimeMs?: number;
}

/** The answer of an attestation (spec 1 §4.4). */
export interface IssuedSession {
  readonly security_token: string;
  readonly session_id: string;
  readonly expires_at: string;
}

/**
 * Makes a session for an execution, with the token that belongs to it (requirements ATTEST-07, ATTEST-08).
 * @throws AppError `invalid` for a key that is not acceptable, `conflict` where the execution's session is revoked.
 */
export async function issueSession(deps: IssueSessionDeps, request: SessionRequest): Promise<IssuedSession> {
  readPublicKey(request.publicKey, 'agent_public_key');
  const lifetimeMs = Math.min(request.lifetimeMs ?? envelopeLimits.sessionMs, envelopeLimits.longestSessionMs);
  const iat = Math.floor(deps.clock.now() / 1_000);
  const exp = iat + Math.max(1, Math.ceil(lifetimeMs / 1_000));
  const session_id = `${deps.newId()}${deps.newId()}`;
  const expires_at = new Date(exp * 1_000).toISOString();
  const { securityContext, tenant } = request;
  const security_token = await issueToken(deps.key, {
    jti: session_id,
    scp: securityContext,
    tenant_id: tenant,
    iat,
    exp,
  });
  await deps.sessions.create({
    execution_id: request.executionId,
    session_id,
    agent_id: request.agentId,
    public_key: request.publicKey,
    pod_uid: request.podUid,
    security_context: securityContext,
    tenant,
    allowed_tool_patterns: request.allowedToolPatterns ?? ['*'],
    expires_at,
  });
  return { security_token, session_id, expires_at };
}
