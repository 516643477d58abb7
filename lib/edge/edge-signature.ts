import { hash, type KeyObject, sign, verify } from 'node:crypto';
import { promisify } from 'node:util';

/**
 * Every signature begins with one of them and a byte of value 0, so that none can be taken for that of another kind of
 * message. The names in front are the fields of `EdgeEvent`, save the last three.
 */
const edgeDomains = {
  hello: 'windlass-edge-hello-v1',
  heartbeat: 'windlass-edge-heartbeat-v1',
  commandResult: 'windlass-edge-command-result-v1',
  commandProgress: 'windlass-edge-command-progress-v1',
  capabilityUpdate: 'windlass-edge-capability-update-v1',
  command: 'windlass-edge-command-v1',
  rotation: 'windlass-edge-rotation-v1',
  challenge: 'windlass-edge-challenge-v1',
} as const;

type EdgeDomain = keyof typeof edgeDomains;

const beginnings = Object.fromEntries(
  Object.entries(edgeDomains).map(([domain, text]) => [domain, Buffer.from(`${text}\0`, 'utf8')]),
) as Record<EdgeDomain, Buffer>;

/** A message to be signed, or that was. */
export interface SignedMessage {
  readonly domain: Exclude<EdgeDomain, 'challenge'>;
  /** Nonce of the stream's Hello; empty for a rotation. */
  readonly streamId: string;
  readonly sequence: bigint;
  /** The message's bytes on the wire without its envelope field. */
  readonly rest: Uint8Array;
}

/** Domain, a zero byte, stream id, sequence in 8 bytes with the highest first, SHA-256 of the rest (AMB-202). */
export function signedBytes({ domain, streamId, sequence, rest }: SignedMessage): Buffer {
  const number = Buffer.alloc(8);
  number.writeBigUInt64BE(sequence);
  return Buffer.concat([begin(domain), Buffer.from(streamId, 'utf8'), number, hash('sha256', rest, 'buffer')]);
}

export const signMessage = (key: KeyObject, message: SignedMessage): Buffer => sign(null, signedBytes(message), key);

/** Whether the key signed the message; false for a signature of another length. */
export function isSignedBy(key: KeyObject, message: SignedMessage, signature: Uint8Array): boolean {
  return signature.length === signatureBytes && verify(null, signedBytes(message), key, signature);
}

const verifyInPool = promisify<null, Uint8Array, KeyObject, Uint8Array, boolean>(verify);

/**
 * The same in a thread of the pool: a relay has other hosts to hear meanwhile. To sign takes less of the processor than to hand a
 * message over to a thread.
 */
export async function isSignedByInPool(
  key: KeyObject,
  message: SignedMessage,
  signature: Uint8Array,
): Promise<boolean> {
  return signature.length === signatureBytes && verifyInPool(null, signedBytes(message), key, signature);
}

/** The bytes that an attested key signs to prove itself. */
export const challengeBytes = (nonce: Uint8Array): Buffer => Buffer.concat([begin('challenge'), nonce]);

export const signChallenge = (key: KeyObject, nonce: Uint8Array): Buffer => sign(null, challengeBytes(nonce), key);

export function isChallengeSignedBy(key: KeyObject, nonce: Uint8Array, signature: Uint8Array): boolean {
  return signature.length === signatureBytes && verify(null, challengeBytes(nonce), key, signature);
}

/** The bytes that a new key signs at a rotation: the node id in UTF-8, and the raw key (AMB-113). */
export const rotationProofBytes = (nodeId: string, newPublicKey: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(nodeId, 'utf8'), newPublicKey]);

export const signRotationProof = (newKey: KeyObject, nodeId: string, newPublicKey: Uint8Array): Buffer =>
  sign(null, rotationProofBytes(nodeId, newPublicKey), newKey);

export function isRotationProof(
  newKey: KeyObject,
  { nodeId, newPublicKey }: { readonly nodeId: string; readonly newPublicKey: Uint8Array },
  signature: Uint8Array,
): boolean {
  return (
    signature.length === signatureBytes && verify(null, rotationProofBytes(nodeId, newPublicKey), newKey, signature)
  );
}

const signatureBytes = 64;
const begin = (domain: EdgeDomain): Buffer => beginnings[domain];
