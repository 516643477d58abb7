import { generateKeyPairSync } from 'node:crypto';
import type { Clock } from '../lib/clock.ts';
import { sealRotation } from '../lib/edge/index.ts';
import type { Logger } from '../lib/logger.ts';
import { type Credential, publicKeyOf } from './state/host-state.ts';
import type { RelayClient } from './stream/relay-client.ts';

/** How much of its life a token has when it is replaced. */
const part = 0.5;
/** How far a clock may have gone back before that counts as a jump. */
const jumpMs = 300_000;

/**
 * Whether it is time for a new key: half the life of the token is over, by the clock or by the time that this process has
 * run since it got the token. A clock that jumped to before the token was received says nothing, so it is time as well.
 */
export function isRotationDue(
  { receivedAt, lifeMs }: Pick<Credential, 'receivedAt' | 'lifeMs'>,
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
  readonly save: (credential: Credential) => Promise<void>;
}

/**
 * Replaces the key. The new one is on the disk before the relay hears of it, so that a daemon that ends in between asks
 * again for the same key. The former key goes on signing until the answer is on the disk.
 * @throws AppError as the relay answers: `ABORTED` for a rotation that another one overtook.
 */
export async function rotateKey(
  { clock, logger, nodeId, client, save }: RotateDeps,
  current: Credential,
): Promise<Credential> {
  const privateKey = current.nextKey ?? generateKeyPairSync('ed25519').privateKey;
  if (current.nextKey === undefined) await save({ ...current, nextKey: privateKey });
  const now = clock.now();
  const request = sealRotation(
    { privateKey, publicKey: publicKeyOf(privateKey) },
    { key: current.privateKey, nodeId, token: current.token, sequence: BigInt(now), now },
  );
  const answer = await client.rotate(request);
  const lifeMs = (answer.expiresAt?.getTime() ?? 0) - (answer.issuedAt?.getTime() ?? 0);
  const next = {
    privateKey,
    token: answer.nodeSecurityToken,
    receivedAt: clock.now(),
    lifeMs: lifeMs > 0 ? lifeMs : current.lifeMs,
  };
  await save(next);
  logger.info({}, 'key rotated');
  return next;
}
