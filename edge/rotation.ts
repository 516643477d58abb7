import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import { sealRotation } from '../lib/edge/index.ts';
import { AppError, hasReason } from '../lib/errors.ts';
import type { RotateEdgeKeyResponse } from '../proto/generated/windlass/node/v1/node.ts';
import type { Logger } from '../lib/logger.ts';
import { heartbeatMsOf } from './heartbeat.ts';
import { type HostCredential, publicKeyOf } from './state/host-state.ts';
import type { RelayClient } from './stream/relay-client.ts';

/** How much of its life a token has when it is replaced. */
const part = 0.5;
/** How far a clock may have gone back before that counts as a jump. */
const jumpMs = 300_000;

/**
 * Whether a rotation is due. It is when half the life of the token is over, by the clock or by the time that this process
 * has run since. A clock that jumped to before the token was received says nothing, so it is due as well. It is due at once
 * where an answer is missing: the server may have replaced the token already.
 */
export function isRotationDue(
  { receivedAt, lifeMs, pendingKeys }: Pick<HostCredential, 'receivedAt' | 'lifeMs' | 'pendingKeys'>,
  { now, heldMs }: { readonly now: number; readonly heldMs: number },
): boolean {
  if (pendingKeys.length > 0) return true;
  const age = now - receivedAt;
  return age >= lifeMs * part || heldMs >= lifeMs * part || age < -jumpMs;
}

interface RotateDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly nodeId: string;
  readonly client: Pick<RelayClient, 'rotate'>;
  /** Resolves when it is on the disk. */
  readonly save: (credential: HostCredential) => Promise<void>;
}

/**
 * Replaces the key. A key that the server may have is never given up: as long as an answer is missing, each attempt offers
 * the same key again, so the server holds that one or the one before. Where it holds the offered one, the token was lost with
 * the answer, and a new key gets one.
 * @throws AppError as the relay answers: `ABORTED` for a rotation that another one overtook.
 */
export async function rotateKey(deps: RotateDeps, current: HostCredential): Promise<HostCredential> {
  const offered = current.pendingKeys.at(-1);
  if (offered === undefined) return offerNewKey(deps, current);
  const signers = [current.privateKey, ...current.pendingKeys.toReversed()];
  const answer = await askSignedBy(deps, signers, { privateKey: offered, token: current.token });
  if (answer !== 'held') return take(deps, current, { privateKey: offered, answer });
  deps.logger.info({}, 'the relay holds the offered key');
  return offerNewKey(deps, { ...current, privateKey: offered });
}

/** The key is on the disk before the relay hears of it. The same write settles which key the server holds until then. */
async function offerNewKey(deps: RotateDeps, current: HostCredential): Promise<HostCredential> {
  const { privateKey } = generateKeyPairSync('ed25519');
  await deps.save({ ...current, pendingKeys: [privateKey] });
  const answer = await ask(deps, current.privateKey, { privateKey, token: current.token });
  return take(deps, current, { privateKey, answer });
}

/** Writes the key with the token that is bound to it. */
async function take(
  deps: RotateDeps,
  current: HostCredential,
  { privateKey, answer }: { readonly privateKey: KeyObject; readonly answer: RotateEdgeKeyResponse },
): Promise<HostCredential> {
  const lifeMs = (answer.expiresAt?.getTime() ?? 0) - (answer.issuedAt?.getTime() ?? 0);
  const next: HostCredential = {
    privateKey,
    token: answer.nodeSecurityToken,
    receivedAt: deps.clock.now(),
    lifeMs: lifeMs > 0 ? lifeMs : current.lifeMs,
    ...heartbeatOf(answer, current),
    pendingKeys: [],
  };
  await deps.save(next);
  deps.logger.info({}, 'key rotated');
  return next;
}

/** A server of an older version says nothing of it. */
function heartbeatOf(
  { heartbeatInterval }: RotateEdgeKeyResponse,
  { heartbeatMs: before }: HostCredential,
): Pick<HostCredential, 'heartbeatMs'> {
  const heartbeatMs = heartbeatMsOf(heartbeatInterval) ?? before;
  return heartbeatMs === undefined ? {} : { heartbeatMs };
}

type Offer = Pick<HostCredential, 'privateKey' | 'token'>;
type AskDeps = Pick<RotateDeps, 'clock' | 'nodeId' | 'client'>;

/**
 * Asks with one signing key after the other until the server knows one; `held` where it has the offered key already. The
 * server judges the signature first, so a request that the offered key has signed is `invalid` for that reason alone.
 */
async function askSignedBy(
  deps: AskDeps,
  [key, ...others]: readonly KeyObject[],
  offer: Offer,
): Promise<RotateEdgeKeyResponse | 'held'> {
  if (key === undefined)
    throw new AppError('unauthenticated', 'the relay knows no key of this host', { reason: 'UNAUTHENTICATED' });
  try {
    return await ask(deps, key, offer);
  } catch (error) {
    if (key === offer.privateKey && error instanceof AppError && error.code === 'invalid') return 'held';
    if (others.length === 0 || !hasReason(error, 'UNAUTHENTICATED')) throw error;
  }
  return askSignedBy(deps, others, offer);
}

/** One request, signed by this key. The token only names the host, so that it may have expired or been replaced. */
function ask({ clock, nodeId, client }: AskDeps, key: KeyObject, offer: Offer): Promise<RotateEdgeKeyResponse> {
  const now = clock.now();
  const pair = { privateKey: offer.privateKey, publicKey: publicKeyOf(offer.privateKey) };
  return client.rotate(sealRotation(pair, { key, nodeId, token: offer.token, sequence: BigInt(now), now }));
}
