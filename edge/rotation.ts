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
 * Whether it is time for a new key. It is when half the life of the token is over, by the clock or by the time that
 * this process has run since. A clock that jumped to before the token was received says nothing, so it is time as well.
 */
export function isRotationDue(
  { receivedAt, lifeMs }: Pick<HostCredential, 'receivedAt' | 'lifeMs'>,
  { now, heldMs }: { readonly now: number; readonly heldMs: number },
): boolean {
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

/** Rotations without an answer whose keys are kept; the server holds one of the last ones, or the current one. */
const pendingMost = 8;

/**
 * Replaces the key by one that no rotation has used before. The new one is on the disk before the relay hears of it. An
 * answer that never came leaves open which key the server holds, so the current one signs first, then each pending one;
 * the token only names the host.
 * @throws AppError as the relay answers: `ABORTED` for a rotation that another one overtook.
 */
export async function rotateKey(deps: RotateDeps, current: HostCredential): Promise<HostCredential> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const pendingKeys = [...current.pendingKeys, privateKey].slice(-pendingMost);
  await deps.save({ ...current, pendingKeys });
  const answer = await askSignedBy(deps, [current.privateKey, ...current.pendingKeys], {
    privateKey,
    token: current.token,
  });
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

/** Asks with one signing key after the other until the server knows one. */
async function askSignedBy(
  deps: Pick<RotateDeps, 'clock' | 'nodeId' | 'client'>,
  [key, ...others]: readonly KeyObject[],
  next: Pick<HostCredential, 'privateKey' | 'token'>,
): Promise<RotateEdgeKeyResponse> {
  if (key === undefined)
    throw new AppError('unauthenticated', 'the relay knows no key of this host', { reason: 'UNAUTHENTICATED' });
  const now = deps.clock.now();
  const pair = { privateKey: next.privateKey, publicKey: publicKeyOf(next.privateKey) };
  const { nodeId } = deps;
  try {
    return await deps.client.rotate(sealRotation(pair, { key, nodeId, token: next.token, sequence: BigInt(now), now }));
  } catch (error) {
    if (others.length === 0 || !hasReason(error, 'UNAUTHENTICATED')) throw error;
  }
  return askSignedBy(deps, others, next);
}
