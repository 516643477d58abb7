import { hash } from 'node:crypto';
import { limits } from '../../../crds/limits.ts';
import type { AuditChain } from '../../../lib/audit-chain/index.ts';
import { ShareUsedError } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { canonicalJson } from '../../../lib/definition/canonical.ts';
import {
  envelopeLimits,
  readNewPublicKey,
  readToken,
  requireSessionContext,
  type Revocations,
  type SealClaims,
  type SealVerifier,
  type SealSession,
  type SealSessions,
} from '../../../lib/envelope/index.ts';
import type { Contract, RequestBodyOf } from '../../../lib/http/contract.ts';
import { HttpError } from '../../../lib/http/http-error.ts';
import { createTextCursor } from '../../../lib/http/paging.ts';
import { readPage } from '../../../lib/http/read-page.ts';
import { invalidField } from '../../../lib/http/request-errors.ts';
import { defineRoute, json, type Route } from '../../../lib/http/route.ts';
import type { NewId } from '../../../lib/ids.ts';
import { instantForm, parseInstant } from '../../../lib/instant.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import { fleetScopesOf } from '../../../lib/tools/fleet-rights.ts';
import type { Operator } from '../../identity/operator.ts';
import { ofOwnTenant } from '../../identity/own-tenant.ts';
import type { Tenancy } from '../../identity/tenancy.ts';
import type { SecurityOf } from '../../lane/security-of.ts';
import type { SessionView } from '../../sessions/session-view.ts';
import { createSession, listSessions, readSession, revokeSession } from './contract.ts';

export const contracts: readonly Contract[] = [createSession, listSessions, readSession, revokeSession];

interface SessionRoutesDeps {
  readonly audit: AuditChain;
  readonly clock: Clock;
  readonly kube: Pick<KubeClient, 'get' | 'list'>;
  readonly newId: NewId;
  readonly sessions: SealSessions;
  readonly view: SessionView;
  readonly revocations: Pick<Revocations, 'revoke'>;
  readonly securityOf: SecurityOf;
  readonly tenancy: Tenancy;
  /** Key that tokens are checked with; undefined in the bypass, where none is. */
  readonly sealKey: () => SealVerifier | undefined;
}

type Body = RequestBodyOf<typeof createSession>;

/** Sessions of the control plane (spec 3 §2.3, §3.1, §4.1). */
export function createSessionRoutes(deps: SessionRoutesDeps): Route<Operator>[] {
  const { clock, sessions, view, revocations, audit } = deps;
  const own = async (caller: Operator, executionId: string): Promise<SealSession> => {
    const found = await sessions.find({ tenant: caller.tenant ?? '', execution_id: executionId });
    if (found !== undefined && found.pending !== true) return found;
    throw new HttpError({
      code: 'not_found',
      message: 'the tenant has no session of this execution; make one with POST /v1/seal/sessions',
    });
  };
  return [
    createRoute(deps),
    defineRoute<typeof listSessions, Operator>(listSessions, async ({ caller, query }) => {
      const now = clock.now();
      const after = idCursor.decode(query.cursor);
      const size = Math.min(query.limit, limits.pageSizeMax);
      await view.read();
      const found = view.range(caller.tenant ?? '', { after, limit: size + 1 });
      const rows = found.slice(0, size);
      const { items, cutAfter } = await readPage(rows, async (row) => {
        const session = await sessions.find(row);
        return session !== undefined && isListed(session, now) ? shown(session, now) : undefined;
      });
      const last = cutAfter ?? (found.length > size ? rows.at(-1) : undefined);
      return json({ items, next_cursor: last === undefined ? null : idCursor.encode(last.execution_id) });
    }),
    defineRoute<typeof readSession, Operator>(readSession, async ({ caller, params }) =>
      json(shown(await own(caller, params.execution_id), clock.now())),
    ),
    defineRoute<typeof revokeSession, Operator>(revokeSession, async ({ caller, params }) => {
      const session = await own(caller, params.execution_id);
      await revocations.revoke(session);
      view.remember({ ...session, revoked: true });
      await audit.append({ type: 'SessionRevoked', ...by(caller), data: { execution_id: session.execution_id } });
      return json({ execution_id: session.execution_id, state: 'revoked' });
    }),
  ];
}

function createRoute(deps: SessionRoutesDeps): Route<Operator> {
  const route = defineRoute<typeof createSession, Operator>(createSession, async ({ caller, body }) => {
    const session = await register(deps, caller, body);
    return json({ id: session.execution_id, name: session.agent_id, ...shown(session, deps.clock.now()) });
  });
  return ofOwnTenant(deps.tenancy, route);
}

const by = ({ tenant, subject }: Operator) => ({ tenant, subject });
const idCursor = createTextCursor('sessions');

async function register(deps: SessionRoutesDeps, caller: Operator, body: Body): Promise<SealSession> {
  const { clock, sessions, view } = deps;
  readNewPublicKey(body.public_key_b64, 'public_key_b64');
  const expiresAt = expiryOf(body.expires_at, clock.now());
  const claims = await claimsOf(deps, caller, body);
  await requireContext(deps, caller, body.security_context);
  const scopes = fleetScopesOf(caller.scopes);
  const session: SealSession = {
    execution_id: body.execution_id,
    session_id: claims?.jti ?? deps.newId(),
    agent_id: body.agent_id,
    public_key: body.public_key_b64,
    pod_uid: '',
    security_context: body.security_context,
    tenant: caller.tenant ?? '',
    allowed_tool_patterns: body.allowed_tool_patterns ?? ['*'],
    expires_at: expiresAt,
    registered: hash('sha256', canonicalJson(body)),
    ...(scopes.length > 0 && { scopes }),
    pending: true,
  };
  using room = view.reserve(session);
  const stored = await sessions.register(session, clock.now()).catch(refuse);
  // An attempt that could not store its event has left a session without effect, for this one to finish.
  const active = stored.pending === true ? await announce(deps, caller, stored) : stored;
  // The session takes the room that was held for it.
  room[Symbol.dispose]();
  view.remember(active);
  return active;
}

function refuse(error: unknown): never {
  if (!(error instanceof ShareUsedError)) throw error;
  const { message, retryAfterMs } = error;
  const headers = { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) };
  throw new HttpError({ code: 'limit_exceeded', status: 429, error: 'session_share_used', message, headers });
}

/** No call is taken in a session without its event (spec 3 §6). */
async function announce(
  { audit, sessions }: SessionRoutesDeps,
  caller: Operator,
  made: SealSession,
): Promise<SealSession> {
  const { execution_id, agent_id, security_context } = made;
  const data = { execution_id, agent_id, security_context };
  await audit.append({ type: 'SessionCreated', ...by(caller), data });
  return sessions.activate(made);
}

/** The claims of the token, which has to be one that calls of the session can sign in with (requirements AMB-119). */
async function claimsOf(deps: SessionRoutesDeps, caller: Operator, body: Body): Promise<SealClaims | undefined> {
  const key = deps.sealKey();
  if (key === undefined) return undefined;
  const claims = await readToken(key, body.security_token, deps.clock.now());
  if (claims === undefined)
    throw invalidField('body.security_token', 'is not a valid token of the SEAL issuer for this audience');
  await deps.tenancy.assertOwn(caller, claims.tenant_id, 'security_token');
  if (claims.scp === body.security_context) return claims;
  throw invalidField('body.security_token', 'names another security context in its claim scp');
}

/** The cache may not have yet what kubectl has just written. */
async function requireContext(
  { kube, securityOf, tenancy }: SessionRoutesDeps,
  { tenant }: Operator,
  name: string,
): Promise<void> {
  if (securityOf(tenant, name) === undefined) await requireSessionContext(kube, name, tenancy.visibleTo(tenant));
}

/** Default: in an hour (spec 3 §2.3). @throws HttpError 400 for the past, or for more than seven days. */
function expiryOf(text: string | undefined, now: number): string {
  if (text === undefined) return new Date(now + envelopeLimits.sessionMs).toISOString();
  const end = parseInstant(text);
  if (end === undefined) throw invalidField('body.expires_at', instantForm);
  if (end <= now) throw invalidField('body.expires_at', 'is over; give a time to come');
  if (end > now + envelopeLimits.longestSessionMs)
    throw invalidField('body.expires_at', 'is more than seven days away');
  return new Date(end).toISOString();
}

function stateOf(session: SealSession, now: number): 'active' | 'revoked' | 'expired' {
  if (session.revoked === true) return 'revoked';
  return Date.parse(session.expires_at) > now ? 'active' : 'expired';
}

const isListed = (session: SealSession, now: number): boolean =>
  session.pending !== true && stateOf(session, now) === 'active';

/** A session as operators see it: without its token, of which nothing is kept (requirements AMB-117). */
const shown = (session: SealSession, now: number) => ({
  execution_id: session.execution_id,
  agent_id: session.agent_id,
  security_context: session.security_context,
  public_key_b64: session.public_key,
  expires_at: session.expires_at,
  allowed_tool_patterns: session.allowed_tool_patterns,
  tenant_id: session.tenant === '' ? null : session.tenant,
  state: stateOf(session, now),
});
