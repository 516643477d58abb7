import { hash, verify } from 'node:crypto';
import type { EventBus, KeyValueBucket } from '../bus/index.ts';
import type { Clock } from '../clock.ts';
import { matchesAny } from '../tools/name-pattern.ts';
import { EnvelopeError } from './envelope-error.ts';
import { envelopeLimits } from './limits.ts';
import { readPublicKey } from './public-key.ts';
import type { Envelope } from './read-envelope.ts';
import type { SealKey } from './seal-key.ts';
import type { Session, Sessions } from './sessions.ts';
import { readToken } from './token.ts';

interface ProofDeps {
  readonly bus: Pick<EventBus, 'bucket'>;
  readonly clock: Clock;
  readonly key: SealKey;
  readonly sessions: Sessions;
}

/**
 * The session that a call was signed in. Checks, in this order (spec 3 §5.2): session, token, signature, timestamp and
 * replay, tool.
 * @throws EnvelopeError at the first that fails; AppError `unavailable` where the bus cannot be reached, `limit_exceeded`
 * where the tenant's calls fill its part of the replay memory.
 */
export type ProveEnvelope = (envelope: Envelope) => Promise<Session>;

const definition = { name: 'seal_replays', ttlMs: envelopeLimits.replayMs };

export function createEnvelopeProof({ bus, clock, key, sessions }: ProofDeps): ProveEnvelope {
  const replays = bus.bucket<string>(definition);
  return async (envelope) => {
    const session = activeSession(await sessions.find(envelope.executionId), clock.now());
    await proveToken(key, envelope, session, clock.now());
    proveSignature(envelope, session);
    proveFresh(envelope, clock.now());
    await proveFirst(replays, envelope, session);
    if (matchesAny(session.allowed_tool_patterns, envelope.tool)) return session;
    throw new EnvelopeError('out_of_session', `the session does not permit the tool ${envelope.tool.slice(0, 128)}`);
  };
}

function activeSession(session: Session | undefined, now: number): Session {
  // A session that is revoked looks like one that never was.
  if (session === undefined || session.revoked === true)
    throw new EnvelopeError('session_inactive', 'the session is not active; attest again');
  if (Date.parse(session.expires_at) > now) return session;
  throw new EnvelopeError('session_expired', 'the session has expired; attest again');
}

/** The token has to be the one of this session: another one of the same installation proves nothing here. */
async function proveToken(key: SealKey, { token }: Envelope, session: Session, now: number): Promise<void> {
  const claims = await readToken(key, token, now);
  const isOfSession =
    claims !== undefined &&
    claims.jti === session.session_id &&
    claims.scp === session.security_context &&
    claims.tenant_id === session.tenant;
  if (!isOfSession) throw new EnvelopeError('token_invalid', 'invalid token');
}

function proveSignature({ signature, signedBytes }: Envelope, { public_key: publicKey }: Session): void {
  const isSigned = verify(null, signedBytes, readPublicKey(publicKey, 'public_key'), signature);
  if (!isSigned) throw new EnvelopeError('signature_invalid', 'signature verification failed');
}

function proveFresh({ sentAt }: Envelope, now: number): void {
  if (Math.abs(now - sentAt) <= envelopeLimits.freshMs) return;
  throw new EnvelopeError('not_fresh', 'timestamp outside freshness window');
}

/** One token signs many calls, so what counts as the same call is the same token and the same bytes (AMB-001). */
async function proveFirst(replays: KeyValueBucket<string>, { signedBytes }: Envelope, session: Session): Promise<void> {
  const call = `${session.session_id}:${hash('sha256', signedBytes)}`;
  if ((await replays.create(call, '', session.tenant)) !== undefined) return;
  throw new EnvelopeError('replayed', 'this call was made before; sign another one');
}
