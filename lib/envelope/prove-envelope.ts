import { hash, type KeyObject, verify } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { EventBus, KeyValueBucket } from '../bus/index.ts';
import type { Clock } from '../clock.ts';
import { memoize } from '../memo.ts';
import { matchesAny, matchesApproved } from '../tools/name-pattern.ts';
import { EnvelopeError } from './envelope-error.ts';
import { envelopeLimits } from './limits.ts';
import { readPublicKey } from './public-key.ts';
import type { Envelope, Sealed } from './read-envelope.ts';
import { type HeardSession, heardOf, type SealSession, type SessionName, type SealSessions } from './sessions.ts';
import { createTokenReader, type ReadToken, type SealClaims, type SealVerifier } from './token.ts';

export interface ProofDeps {
  readonly bus: Pick<EventBus, 'bucket'>;
  readonly clock: Clock;
  readonly key: SealVerifier;
  readonly sessions: Pick<SealSessions, 'find' | 'lookUp'>;
  /**
   * A session that this process has heard of, which may have changed meanwhile; without one the bus is asked. A call that
   * fails under it is proved again under the stored session, so that a caller notices nothing of the delay.
   */
  readonly known?: (name: SessionName) => HeardSession | undefined;
}

/**
 * The session that a call was signed in. Checks, in this order (spec 3 §5.2): session, token, signature, timestamp and
 * replay, tool. The session is read from its leader once the replay key is there (design §13), so that a revocation which
 * was written before refuses the call.
 * @throws EnvelopeError at the first that fails; AppError `unavailable` where the bus cannot be reached, `limit_exceeded`
 * where the tenant's calls fill its part of the replay memory.
 */
export type ProveEnvelope = (envelope: Envelope) => Promise<SealSession>;

const definition = {
  name: 'seal_replays',
  ttlMs: envelopeLimits.replayMs,
  holds: 'signatures of the last two minutes',
};

/** Keys of callers that are read already: points are checked and parsed once. */
const keysKept = { keys: 1_000, length: 65_536 } as const;

export function createEnvelopeProof(deps: ProofDeps): ProveEnvelope {
  const { bus, sessions, known = () => undefined } = deps;
  const proof: Proof = { ...sealProof(deps), replays: bus.bucket<string>(definition) };
  return async (envelope) => {
    requireTenant(envelope.session);
    const heard = known(envelope.session);
    if (heard === undefined) return proveUnder(proof, envelope, await sessions.lookUp(envelope.session));
    try {
      return await proveUnder(proof, envelope, heard);
    } catch (error) {
      if (!(error instanceof EnvelopeError)) throw error;
      const stored = await sessions.find(envelope.session);
      if (stored !== undefined && isDeepStrictEqual(heardOf(stored), heard)) throw error;
      return proveUnder(proof, envelope, stored);
    }
  };
}

/**
 * The session that a request which calls no tool was signed in: the checks of a call but the last two. Such a request may
 * come again, for it changes nothing.
 * @throws EnvelopeError at the first that fails; AppError `unavailable` where the bus cannot be reached.
 */
export type ProveSession = (sealed: Sealed) => Promise<SealSession>;

export function createSessionProof(deps: Omit<ProofDeps, 'bus' | 'known'>): ProveSession {
  const proof = sealProof(deps);
  return async (sealed) => {
    requireTenant(sealed.session);
    const session = await requireActive(proof, sealed, await deps.sessions.lookUp(sealed.session));
    try {
      await proveSealed(proof, sealed, session);
      return session;
    } catch (error) {
      throw underSession(error, session);
    }
  };
}

interface SealProof extends Pick<ProofDeps, 'clock' | 'sessions'> {
  readonly read: ReadToken;
  readonly keyOf: (publicKey: string) => KeyObject;
}

interface Proof extends SealProof {
  readonly replays: KeyValueBucket<string>;
}

export const sealProof = ({ clock, sessions, key }: Omit<ProofDeps, 'bus'>): SealProof => ({
  clock,
  sessions,
  read: createTokenReader(key),
  keyOf: memoize(keysKept, (text) => readPublicKey(text, 'public_key')),
});

async function proveSealed(proof: SealProof, sealed: Sealed, session: HeardSession): Promise<SealClaims> {
  const claims = await proveToken(proof, sealed, session);
  proveSignature(sealed, proof.keyOf(session.public_key));
  proveFresh(sealed, proof.clock.now());
  return claims;
}

/** The same refusal, with the session that the call named. */
export function underSession(error: unknown, session: HeardSession): unknown {
  if (!(error instanceof EnvelopeError) || error.session !== undefined) return error;
  const { asserted } = error;
  return new EnvelopeError(error.fault, error.message, { session, ...(asserted === undefined ? {} : { asserted }) });
}

async function proveUnder(proof: Proof, envelope: Envelope, supposed: HeardSession | undefined): Promise<SealSession> {
  const { clock, sessions, replays } = proof;
  const session = await requireActive(proof, envelope, supposed);
  try {
    const { jti } = await proveSealed(proof, envelope, session);
    await proveFirst(replays, envelope, { jti, tenant: session.tenant });
    const current = activeSession(await sessions.find(envelope.session), clock.now());
    if (current.session_id !== session.session_id) throw inactive();
    if (matchesApproved(current.waiting_tool_patterns ?? [], envelope.tool)) throw needsPerson(envelope.tool);
    if (matchesAny(current.allowed_tool_patterns, envelope.tool)) return current;
  } catch (error) {
    throw underSession(error, session);
  }
  const message = `the session does not permit the tool ${envelope.tool.slice(0, 128)}`;
  throw new EnvelopeError('out_of_session', message, { session });
}

const needsPerson = (tool: string): EnvelopeError =>
  new EnvelopeError(
    'out_of_session',
    `ApprovalRequired: a person must approve a call of ${tool}; let the agent call it`,
  );

/**
 * A session is found by the tenant of the token as well.
 * @throws EnvelopeError for a token that claims no tenant (spec 3 §5.4).
 */
export function requireTenant({ tenant }: SessionName): void {
  if (tenant === '') throw new EnvelopeError('token_invalid', 'invalid token');
}

/** @throws EnvelopeError for a session that is not there, revoked or expired. */
export function activeSession<S extends HeardSession>(session: S | undefined, now: number): S {
  // A session that is revoked looks like one that never was.
  if (session === undefined || session.revoked === true || session.pending === true) throw inactive();
  if (Date.parse(session.expires_at) > now) return session;
  throw new EnvelopeError('session_expired', 'the session has expired; attest again', { session });
}

/** The same. A refusal names a revoked session where the call has a token of it: without one, a stranger could cause its events. */
export async function requireActive<S extends HeardSession>(
  proof: SealProof,
  sealed: Pick<Sealed, 'token'>,
  session: S | undefined,
): Promise<S> {
  try {
    return activeSession(session, proof.clock.now());
  } catch (error) {
    if (session?.revoked !== true || !(await isTokenOf(proof, sealed, session))) throw error;
    throw underSession(error, session);
  }
}

const isTokenOf = (...call: Parameters<typeof proveToken>): Promise<boolean> =>
  proveToken(...call).then(
    () => true,
    () => false,
  );

const inactive = (): EnvelopeError => new EnvelopeError('session_inactive', 'the session is not active; attest again');

/**
 * The token of an attestation is the one that was issued with the session. A session of an operator takes every token of
 * its tenant and its security context (requirements AMB-119).
 */
export async function proveToken(
  { read, clock }: SealProof,
  { token }: Pick<Sealed, 'token'>,
  session: HeardSession,
): Promise<SealClaims> {
  const claims = await read(token, clock.now());
  if (claims !== undefined && claims.tenant_id !== session.tenant)
    throw new EnvelopeError('token_invalid', 'invalid token', { session, asserted: claims.tenant_id });
  const isOfSession =
    (session.registered !== undefined || claims?.jti === session.session_id) &&
    claims?.scp === session.security_context;
  if (claims === undefined || !isOfSession) throw new EnvelopeError('token_invalid', 'invalid token');
  return claims;
}

function proveSignature({ signature, signedBytes }: Sealed, key: KeyObject): void {
  if (!verify(null, signedBytes(), key, signature))
    throw new EnvelopeError('signature_invalid', 'signature verification failed');
}

function proveFresh({ sentAt }: Sealed, now: number): void {
  if (Math.abs(now - sentAt) <= envelopeLimits.freshMs) return;
  throw new EnvelopeError('not_fresh', 'timestamp outside freshness window');
}

/**
 * One token signs many calls, so what counts as the same call is the same token and the same bytes (AMB-001). The execution
 * is not signed: the same call to another session of the same key is the same.
 */
async function proveFirst(
  replays: KeyValueBucket<string>,
  { signedBytes }: Envelope,
  { jti, tenant }: Pick<SealClaims, 'jti'> & Pick<SealSession, 'tenant'>,
): Promise<void> {
  const call = `${jti}:${hash('sha256', signedBytes())}`;
  if ((await replays.create(call, '', tenant)) !== undefined) return;
  throw new EnvelopeError('replayed', 'this call was made before; sign another one, with another id of its payload');
}
