import type { KeyObject } from 'node:crypto';
import { RotateEdgeKeyRequest } from '../../proto/generated/windlass/node/v1/node.ts';
import { rawPublicKey } from '../envelope/public-key.ts';
import { AppError } from '../errors.ts';
import { signRotationProof } from './edge-signature.ts';
import { openSealed, type SealedMessage, type Sealing, seal } from './envelope.ts';
import { readFields } from './wire.ts';

/** Field of the envelope in RotateEdgeKeyRequest. */
const envelopeField = 1;
/** Its highest field. */
const fields = 3;

export interface ReceivedRotation {
  readonly newPublicKey: Uint8Array;
  readonly proof: Uint8Array;
  readonly sealed: SealedMessage;
}

/**
 * Reads a rotation as it was received; nothing of it is believed yet.
 * @throws AppError `invalid` or `unauthenticated`, as for the events of a stream.
 */
export function readRotation(bytes: Uint8Array): ReceivedRotation {
  const numbers = readFields(bytes).map(({ number }) => number);
  if (new Set(numbers).size !== numbers.length || numbers.some((number) => number > fields)) {
    throw new AppError('invalid', 'a RotateEdgeKeyRequest holds each of its fields once, and no others', {
      reason: 'MessageInvalid',
    });
  }
  const sealed = openSealed('rotation', bytes, envelopeField);
  const { newPublicKey, signatureWithNewKey: proof } = decode(bytes);
  return { newPublicKey, proof, sealed };
}

/** The bytes of a rotation to a new key pair; `sealing` is with the old key. */
export function sealRotation(
  pair: { readonly publicKey: KeyObject; readonly privateKey: KeyObject },
  sealing: Omit<Sealing, 'streamId'>,
): Uint8Array {
  const newPublicKey = rawPublicKey(pair.publicKey);
  const signatureWithNewKey = signRotationProof(pair.privateKey, sealing.nodeId, newPublicKey);
  const rest = RotateEdgeKeyRequest.encode(RotateEdgeKeyRequest.create({ newPublicKey, signatureWithNewKey })).finish();
  return seal('rotation', { number: envelopeField, rest }, { ...sealing, streamId: '' });
}

function decode(bytes: Uint8Array): RotateEdgeKeyRequest {
  try {
    return RotateEdgeKeyRequest.decode(bytes);
  } catch (error) {
    throw new AppError('invalid', 'the request cannot be read', { reason: 'MessageInvalid', cause: error });
  }
}
