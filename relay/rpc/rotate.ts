import type { EdgeHostStatus } from '../../crds/schema/edge-host.ts';
import { resultWithin } from '../../lib/clock.ts';
import {
  assertFresh,
  isRotationProof,
  isSealedByInPool,
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
import { status as codes } from '@grpc/grpc-js';
import { newUuid } from '../../lib/ids.ts';
import type { RotateEdgeKeyResponse } from '../../proto/generated/windlass/node/v1/node.ts';
import type { KeyHolders } from '../hosts/key-holders.ts';
import { isRevoked, keyBefore, type StoredHost } from '../hosts/host-store.ts';
import { unanswered } from '../explained.ts';
import type { EnrollDeps } from './enroll.ts';
import type { RotateLimit } from './rotate-limit.ts';

export interface RotateDeps extends Omit<EnrollDeps, 'bus' | 'edgePublicKey'> {
  readonly keyHolders: KeyHolders;
  readonly overlapMs: number;
  readonly rotations: RotateLimit;
}

/** How long a read of the API server has; one that hangs holds no place longer. */
const readMs = 8_000;

/**
 * Replaces the key of a host, in the order of spec 2 §4.1. The token in the envelope only names the host: it may have
 * expired, as the two signatures are the proof (spec 2 §5). The API server is asked last, and in turns (ADR 0166): anybody may
 * keep an old token. `address` is that of the daemon, or of what is before it.
 */
export async function rotateEdgeKey(
  deps: RotateDeps,
  bytes: Uint8Array,
  address: string,
): Promise<RotateEdgeKeyResponse> {
  const request = await deps.rotations.prove(address, () => readRequest(deps, bytes));
  const caller = { address, nodeId: request.claims.nodeId, signer: request.signer };
  return deps.rotations.ask(caller, () => rotateAsked(deps, request));
}

interface RotationRequest {
  readonly rotation: ReceivedRotation;
  readonly claims: NodeClaims;
  /** The key that has signed the envelope, where this relay knows that it counts for the host: now, or before the last rotation. */
  readonly signer: string | undefined;
}

/** All that can be judged without the API server. No verdict follows from a key that the relay does not know: its memory may be behind. */
async function readRequest(deps: RotateDeps, bytes: Uint8Array): Promise<RotationRequest> {
  const rotation = readRotation(bytes);
  const { envelope } = rotation.sealed;
  const claims = await readNodeToken(deps.relayKey.publicKey, envelope.securityToken, 'any');
  if (claims === undefined) throw unproven();
  assertFresh(envelope, deps.clock.now());
  if (envelope.sequence < 1n)
    throw new AppError('unauthenticated', 'envelope.sequence is 0; it begins at 1', { reason: 'EnvelopeInvalid' });
  if (envelope.nodeId !== claims.nodeId) throw unproven();
  return { rotation, claims, signer: await knownSigner(deps, rotation, claims) };
}

async function knownSigner(
  { clock, hosts }: RotateDeps,
  { sealed }: ReceivedRotation,
  { tid, nodeId }: NodeClaims,
): Promise<string | undefined> {
  const keys = hosts.cached(tid, nodeId)?.object.status?.keys;
  if (keys === undefined) return undefined;
  for (const key of [keys.current, keyBefore(keys, clock.now())]) {
    if (key !== undefined && (await isSealedByInPool(readPublicKey(key, 'keys'), sealed, ''))) return key;
  }
  return undefined;
}

async function rotateAsked(deps: RotateDeps, request: RotationRequest): Promise<RotateEdgeKeyResponse> {
  const { rotation, claims } = request;
  const read = deps.hosts.find(claims.tid, claims.nodeId).then((found) => ({ found }));
  // One that is late may still fail.
  read.catch(() => undefined);
  const answer = await resultWithin(deps.clock, readMs, read);
  if (answer === undefined) throw unanswered();
  const host = answer.found;
  const stored = host?.object.status;
  if (host === undefined || stored === undefined) throw unproven();
  await assertSigned(request, stored);
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

/** The key that the server has counts, also where the memory of the relay knows another one. */
async function assertSigned({ rotation, signer }: RotationRequest, { keys }: EdgeHostStatus): Promise<void> {
  if (signer === keys.current) return;
  const current = readPublicKey(keys.current, 'keys.current');
  if (!(await isSealedByInPool(current, rotation.sealed, ''))) throw unproven();
}

/** The key before the last rotation is not known any more, and counts no more either. */
function assertNewKey({ keyHolders }: RotateDeps, host: StoredHost, key: string): void {
  const { current, previous } = host.object.status?.keys ?? {};
  if (key === current || key === previous)
    throw new AppError('invalid', 'new_public_key is the key of the host, or the one before; make another one');
  if (keyHolders.isOfAnother(host, key))
    throw new AppError('invalid', 'new_public_key is the key of another host of the tenant; make another one');
}

function assertRotatable(host: StoredHost, stored: EdgeHostStatus): void {
  if (!isRevoked(host) && stored.status !== 'Unhealthy') return;
  const state = isRevoked(host) ? 'Revoked' : 'Unhealthy';
  throw new GrpcError('invalid', `the host is ${state}; its key cannot be rotated`, {
    status: codes.FAILED_PRECONDITION,
  });
}

interface Replacement {
  readonly stored: EdgeHostStatus;
  readonly text: string;
  readonly claims: NodeClaims;
}

/** One guarded write: the key, the token that counts, and the overlap. */
async function replaceKey(
  { clock, hosts, relayKey, nodeTokenMs, overlapMs, heartbeatMs, rotations }: RotateDeps,
  host: StoredHost,
  { stored, text, claims }: Replacement,
): Promise<RotateEdgeKeyResponse> {
  const now = clock.now();
  const jti = newUuid();
  const previous = { previous: stored.keys.current, previous_until: new Date(now + overlapMs).toISOString() };
  const status = { ...stored, keys: { current: text, ...previous }, token_jti: jti };
  const written = await rotations.rotate(claims.nodeId, () => hosts.write(host, status));
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
