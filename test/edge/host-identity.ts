import { type KeyObject, type KeyPairKeyObjectResult, randomUUID } from 'node:crypto';
import { type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { isChallengeSignedBy, isRotationProof, isSealedBy, mintNodeToken, readRotation } from '../../lib/edge/index.ts';
import { rawPublicKey, readRawPublicKey } from '../../lib/envelope/index.ts';
import {
  AttestNodeRequest,
  AttestNodeResponse,
  ChallengeNodeRequest,
  ChallengeNodeResponse,
  RotateEdgeKeyResponse,
} from '../../proto/generated/windlass/node/v1/node.ts';

export type Call = ServerUnaryCall<Buffer, Uint8Array>;
export type Answer = sendUnaryData<Uint8Array>;

interface Identified {
  readonly relay: KeyPairKeyObjectResult;
  /** The key whose commands the host takes. */
  readonly commandKey: KeyObject;
  readonly nodeId: string;
}

interface Times {
  readonly tokenLifeMs: number;
  readonly heartbeatMs: number;
}

interface RotationFaults {
  losesRotation: boolean;
  rotationMayEnd: Promise<void> | undefined;
}

/** Enrols the one host of a test, and changes its key. */
export function createHostIdentity(
  { relay, commandKey, nodeId }: Identified,
  { tokenLifeMs, heartbeatMs }: Times,
  faults: () => RotationFaults,
) {
  const keys: KeyObject[] = [];
  const nonces = new Map<string, { readonly nonce: Buffer; readonly key: KeyObject }>();
  let rotations = 0;

  const tokenFor = (publicKey: KeyObject) =>
    mintNodeToken(relay.privateKey, {
      nodeId,
      tid: 'acme',
      jti: randomUUID(),
      publicKey,
      issuedAt: Date.now(),
      lifeMs: tokenLifeMs,
    });

  async function attest({ request }: Call, answer: Answer): Promise<void> {
    const key = readRawPublicKey(AttestNodeRequest.decode(request).publicKey, 'public_key');
    const attestationId = randomUUID();
    const nonce = Buffer.from(randomUUID());
    nonces.set(attestationId, { nonce, key });
    answer(
      null,
      AttestNodeResponse.encode({ attestationId, nonce, expiresAt: new Date(Date.now() + 60_000) }).finish(),
    );
  }

  async function challenge({ request }: Call, answer: Answer): Promise<void> {
    const { attestationId, signature, bootstrapProof } = ChallengeNodeRequest.decode(request);
    const found = nonces.get(attestationId);
    if (
      found === undefined ||
      !isChallengeSignedBy(found.key, found.nonce, signature) ||
      bootstrapProof?.value !== 'one-time'
    )
      return answer({ code: status.UNAUTHENTICATED, details: 'not proven' });
    keys.push(found.key);
    const now = Date.now();
    answer(
      null,
      ChallengeNodeResponse.encode({
        nodeId,
        tenantId: 'acme',
        nodeSecurityToken: await tokenFor(found.key),
        issuedAt: new Date(now),
        expiresAt: new Date(now + tokenLifeMs),
        relayPublicKey: rawPublicKey(relay.publicKey),
        commandPublicKey: rawPublicKey(commandKey),
        heartbeatInterval: { seconds: BigInt(Math.floor(heartbeatMs / 1000)), nanos: (heartbeatMs % 1000) * 1e6 },
      }).finish(),
    );
  }

  async function rotate({ request }: Call, answer: Answer): Promise<void> {
    rotations += 1;
    await faults().rotationMayEnd;
    const { newPublicKey, proof, sealed } = readRotation(request);
    const key = readRawPublicKey(newPublicKey, 'new_public_key');
    const current = keys.at(-1);
    if (current === undefined || !isSealedBy(current, sealed, ''))
      return answer({ code: status.UNAUTHENTICATED, details: 'old key' });
    if (!isRotationProof(key, { nodeId, newPublicKey }, proof))
      return answer({ code: status.INVALID_ARGUMENT, details: 'new key' });
    if (keys.slice(-2).some((one) => one.equals(key)))
      return answer({ code: status.INVALID_ARGUMENT, details: 'the key of the host, or the one before' });
    keys.push(key);
    if (faults().losesRotation) {
      faults().losesRotation = false;
      return answer({ code: status.UNAVAILABLE, details: 'lost' });
    }
    const now = Date.now();
    answer(
      null,
      RotateEdgeKeyResponse.encode({
        nodeSecurityToken: await tokenFor(key),
        issuedAt: new Date(now),
        expiresAt: new Date(now + tokenLifeMs),
        overlapWindow: { seconds: 300n, nanos: 0 },
        heartbeatInterval: undefined,
      }).finish(),
    );
  }

  return {
    /** Keys of the host in order; the last one counts. */
    keys,
    get rotations() {
      return rotations;
    },
    attest,
    challenge,
    rotate,
  };
}
