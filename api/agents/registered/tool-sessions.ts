import { generateKeyPairSync, hash, type KeyObject } from 'node:crypto';
import { envelopeLimits, issueSession, type IssueSessionDeps } from '../../../lib/envelope/index.ts';
import { bytesOf } from '../../../lib/memory-budget/index.ts';
import { createSharedCache, entryWith, sharesOf } from '../../../lib/shared-cache.ts';
import type { RegisteredCaller } from './registered-tools.ts';

/** The signer of the calls of one session. */
export interface ToolSession {
  /** Changes when the session is made anew. */
  readonly sessionId: string;
  readonly executionId: string;
  readonly token: string;
  readonly key: KeyObject;
}

/** Sessions by which this replica calls tools of the gateway, one for each execution of an agent and each call of a workflow (ADR 0084). */
export interface ToolSessions {
  /**
   * The session of the caller, made at its first call and replaced where another replica has made one.
   * @throws AppError `unavailable` where the bus is away, `conflict` where an operator has revoked it.
   */
  of(caller: RegisteredCaller): Promise<ToolSession>;
  /** After a refusal: the session may be another replica's by now. As `of`, from the bus. */
  again(caller: RegisteredCaller): Promise<ToolSession>;
}

/** The session of an agent. Its pod has a session of its own, under the id of the execution itself. */
export const toolSessionId = (executionId: string): string => `agent-${executionId}`;

/** Each process signs with a key of its own, which never leaves it. */
export function createToolSessions(deps: IssueSessionDeps): ToolSessions {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
  const replica = `replica-${hash('sha256', raw).slice(0, 32)}`;
  const known = createSharedCache<ToolSession>({
    ...sharesOf(bytesOf('sessions of registered tools')),
    weigh: ({ executionId, sessionId, token }, key) => entryWith(key, executionId, sessionId, token),
  });
  const again = async (caller: RegisteredCaller): Promise<ToolSession> => {
    const { signer, tenant, deadline } = caller;
    const { session: executionId, name: agentId, context: securityContext, tools } = signer;
    const { session_id: sessionId, security_token: token } = await issueSession(deps, {
      executionId,
      agentId,
      podUid: replica,
      tenant,
      publicKey: raw,
      securityContext,
      allowedToolPatterns: [...tools],
      expiresAt: deadline ?? new Date(deps.clock.now() + envelopeLimits.longestSessionMs).toISOString(),
    });
    const session = { executionId, sessionId, token, key: privateKey };
    known.set(tenant, executionId, session);
    return session;
  };
  return { again, of: async (caller) => known.get(caller.tenant, caller.signer.session) ?? again(caller) };
}
