import type { EdgeHostStatus } from '../../crds/schema/edge-host.ts';
import {
  assertFresh,
  isRotationProof,
  isSealedBy,
  mintNodeToken,
  type NodeClaims,
  type ReceivedRotation,
  readNodeToken,
  readRotation,
  wholeSeconds,
} from '../../lib/edge/index.ts';
import { rawPublicKey, readPublicKey, readRawPublicKey } from '../../lib/envelope/index.ts';
import { AppError } from '../../lib/errors.ts';
import { GrpcError } from '../../lib/grpc/grpc-error.ts';
import { status } from '@grpc/grpc-js';
import { newUuid } from '../../lib/ids.ts';
import type { RotateEdgeKeyResponse } from '../../proto/generated/windlass/node/v1/node.ts';
import type { KeyHolders } from '../hosts/key-holders.ts';
import { isRevoked, type StoredHost } from '../hosts/host-store.ts';
import type { EnrollDeps } from './enroll.ts';

export interface RotateDeps extends Omit<EnrollDeps, 'bus' | 'edgePublicKey'> {
  readonly keyHolders: KeyHolders;
  readonly overlapMs: number;
}

/**
 * Replaces the key of a host, in the order of spec 2 §4.1. The token in the envelope only names the host: it may have
 * expired, as the two signatures are the proof (spec 2 §5).
 */
export async function rotateEdgeKey(deps: RotateDeps, bytes: Uint8Array): Promise<RotateEdgeKeyResponse> {
  const rotation = readRotation(bytes);
  const claims = await readNodeToken(deps.relayKey.publicKey, rotation.sealed.envelope.securityToken, 'any');
  const host = claims === undefined ? undefined : await deps.hosts.find(claims.tid, claims.nodeId);
  const stored = host?.object.status;
  if (claims === undefined || host === undefined || stored === undefined) throw unproven();
  assertEnvelope(rotation, claims, stored, deps.clock.now());
  const newKey = readRawPublicKey(rotation.newPublicKey, 'new_public_key');
  const proven = { nodeId: claims.nodeId, newPublicKey: rotation.newPublicKey };
  if (!isRotationProof(newKey, proven, rotation.proof)) {
    throw new AppError('invalid', 'signature_with_new_key is not by new_public_key over the node id and that key');
  }
  const text = rawPublicKey(newKey).toString('base64');
  assertNewKey(deps, host, text);
  assertRotatable(host, stored);
  return replaceKey(deps, host, { stored, text, claims });
}

/** The key before the last rotation is not known any more, and counts no more either. */
function assertNewKey({ keyHolders }: RotateDeps, host: StoredHost, key: string): void {
  const { current, previous } = host.object.status?.keys ?? {};
  if (key === current || key === previous)
    throw new AppError('invalid', 'new_public_key is the key of the host, or the one before; make another one');
  if (keyHolders.isOfAnother(host, key))
    throw new AppError('invalid', 'new_public_key is the key of another host of the tenant; make another one');
}

function assertEnvelope({ sealed }: ReceivedRotation, claims: NodeClaims, { keys }: EdgeHostStatus, now: number): void {
  assertFresh(sealed.envelope, now);
  if (sealed.envelope.sequence < 1n)
    throw new AppError('unauthenticated', 'envelope.sequence is 0; it begins at 1', { reason: 'EnvelopeInvalid' });
  const current = readPublicKey(keys.current, 'keys.current');
  if (sealed.envelope.nodeId !== claims.nodeId || !isSealedBy(current, sealed, '')) throw unproven();
}

function assertRotatable(host: StoredHost, stored: EdgeHostStatus): void {
  if (!isRevoked(host) && stored.status !== 'Unhealthy') return;
  const state = isRevoked(host) ? 'Revoked' : 'Unhealthy';
  throw new GrpcError('invalid', `the host is ${state}; its key cannot be rotated`, {
    status: status.FAILED_PRECONDITION,
  });
}

interface Replacement {
  readonly stored: EdgeHostStatus;
  readonly text: string;
  readonly claims: NodeClaims;
}

/** One guarded write: the key, the token that counts, and the overlap. */
async function replaceKey(
  { clock, hosts, relayKey, nodeTokenMs, overlapMs, heartbeatMs }: RotateDeps,
  host: StoredHost,
  { stored, text, claims }: Replacement,
): Promise<RotateEdgeKeyResponse> {
  const now = clock.now();
  const jti = newUuid();
  const previous = { previous: stored.keys.current, previous_until: new Date(now + overlapMs).toISOString() };
  const written = await hosts.write(host, { ...stored, keys: { current: text, ...previous }, token_jti: jti });
  if (written === undefined) throw new AppError('conflict', 'the host was changed meanwhile; rotate again');
  const publicKey = readPublicKey(text, 'new_public_key');
  const facts = { nodeId: claims.nodeId, tid: claims.tid, jti, publicKey, issuedAt: now, lifeMs: nodeTokenMs };
  const issued = Math.floor(now / 1_000) * 1_000;
  return {
    nodeSecurityToken: await mintNodeToken(relayKey.privateKey, facts),
    issuedAt: new Date(issued),
    expiresAt: new Date(issued + nodeTokenMs),
    overlapWindow: wholeSeconds(overlapMs),
    heartbeatInterval: wholeSeconds(heartbeatMs),
  };
}

const unproven = (): AppError =>
  new AppError('unauthenticated', 'the current key of the host has not signed the envelope', {
    reason: 'EnvelopeInvalid',
  });
