import type { Clock } from '../lib/clock.ts';
import { edgeLimits, signChallenge } from '../lib/edge/index.ts';
import { rawPublicKey, readRawPublicKey } from '../lib/envelope/index.ts';
import { AppError } from '../lib/errors.ts';
import { type ChallengeNodeResponse, NodeRole } from '../proto/generated/windlass/node/v1/node.ts';
import { heartbeatMsOf } from './heartbeat.ts';
import { lockFolder } from './state/folder-lock.ts';
import { type HostIdentity, type HostState, publicKeyOf, type RelayAddress } from './state/host-state.ts';
import type { RelayClient } from './stream/relay-client.ts';

interface EnrollDeps {
  /** Id of this process. */
  readonly pid: number;
  readonly clock: Clock;
  readonly state: HostState;
  readonly open: (address: RelayAddress) => RelayClient;
  readonly version: string;
}

interface EnrollRequest {
  readonly address: RelayAddress;
  readonly token: string;
  readonly name: string;
  /** Whether an identity that is there is given up. */
  readonly replace: boolean;
}

/**
 * Enrolls this host (EDGE-FLOW-01): attests a key, proves it, redeems the token, and pins the keys of the server. After a
 * crash at any point the same call ends it: the key is on the disk first, and the same key gets the same host again.
 * @throws AppError `already_exists` where the host is enrolled, or another process uses its folder; or as the relay answers.
 */
export async function enroll(
  { clock, state, open, version, pid }: EnrollDeps,
  request: EnrollRequest,
): Promise<HostIdentity> {
  await assertFree(state, request);
  // A daemon that runs would write its token over the new one, or run with a key that the folder has no more.
  using _lock = lockFolder(state.folder, pid);
  // Another enrollment may have ended meanwhile.
  await assertFree(state, request);
  const privateKey = await state.enrollmentKey();
  using client = open(request.address);
  const publicKey = rawPublicKey(publicKeyOf(privateKey));
  const attested = await client.attest({ role: NodeRole.NODE_ROLE_EDGE, publicKey, version, name: request.name });
  const answer = await client.challenge({
    attestationId: attested.attestationId,
    signature: signChallenge(privateKey, attested.nonce),
    role: NodeRole.NODE_ROLE_EDGE,
    bootstrapProof: { $case: 'enrollmentToken', value: request.token },
  });
  const now = clock.now();
  const identity = identityOf(answer, request, now);
  const lifeMs = (answer.expiresAt?.getTime() ?? 0) - (answer.issuedAt?.getTime() ?? 0);
  await state.enrolled(identity, {
    privateKey,
    token: answer.nodeSecurityToken,
    pendingKeys: [],
    receivedAt: now,
    lifeMs: lifeMs > 0 ? lifeMs : edgeLimits.nodeTokenMs,
  });
  return identity;
}

async function assertFree(state: HostState, { replace }: EnrollRequest): Promise<void> {
  const former = replace ? undefined : await state.identity();
  if (former === undefined) return;
  throw new AppError('already_exists', `this host is enrolled as ${former.nodeId}; add --replace to give that up`, {
    reason: 'AlreadyEnrolled',
  });
}

/** @throws AppError `invalid` where the server's keys are none. */
function identityOf(answer: ChallengeNodeResponse, { address, name }: EnrollRequest, now: number): HostIdentity {
  readRawPublicKey(answer.relayPublicKey, 'relay_public_key');
  readRawPublicKey(answer.commandPublicKey, 'command_public_key');
  return {
    ...address,
    nodeId: answer.nodeId,
    tenant: answer.tenantId,
    name,
    relayKey: Buffer.from(answer.relayPublicKey).toString('base64'),
    commandKey: Buffer.from(answer.commandPublicKey).toString('base64'),
    heartbeatMs: heartbeatMsOf(answer.heartbeatInterval) ?? edgeLimits.heartbeatMs,
    enrolledAt: now,
  };
}
