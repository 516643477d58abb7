import type { KeyObject } from 'node:crypto';
import { SealNodeEnvelope } from '../../proto/generated/windlass/node/v1/node.ts';
import { AppError } from '../errors.ts';
import { isSignedBy, isSignedByInPool, type SignedMessage, signMessage } from './edge-signature.ts';
import { edgeLimits } from './limits.ts';
import { type CutMessage, cutField, readFields, writeField } from './wire.ts';

/** The signer, and the message's place in a stream. */
export interface Sealing {
  readonly key: KeyObject;
  readonly nodeId: string;
  /** Empty in messages of the server. */
  readonly token: string;
  /** Empty for a rotation. */
  readonly streamId: string;
  readonly sequence: bigint;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** A message with the proof of its sender, before anything of it is believed. */
export interface SealedMessage extends Pick<CutMessage, 'rest'> {
  readonly domain: SignedMessage['domain'];
  readonly envelope: SealNodeEnvelope;
}

/** A message without its envelope, and the number of the field that the envelope gets. */
interface Unsealed {
  readonly number: number;
  readonly rest: Uint8Array;
}

/** The bytes of a message with its envelope behind them. */
export function seal(domain: SignedMessage['domain'], message: Unsealed, sealing: Sealing): Uint8Array {
  const { streamId, sequence } = sealing;
  const signature = signMessage(sealing.key, { domain, streamId, sequence, rest: message.rest });
  return withEnvelope(message, sealing, signature);
}

function withEnvelope({ number, rest }: Unsealed, sealing: Sealing, signature: Uint8Array): Uint8Array {
  const { nodeId, token, sequence, now } = sealing;
  const envelope = SealNodeEnvelope.create({
    nodeId,
    securityToken: token,
    signature,
    timestamp: new Date(now),
    sequence,
  });
  return Buffer.concat([rest, writeField(number, SealNodeEnvelope.encode(envelope).finish())]);
}

/**
 * Takes the envelope out of the bytes of a message as they were received.
 * @throws AppError `unauthenticated` where there is none, `invalid` where it is not canonical or holds what we do not know.
 */
export function openSealed(domain: SignedMessage['domain'], bytes: Uint8Array, number: number): SealedMessage {
  const cut = cutField(bytes, number);
  if (cut === undefined) {
    throw new AppError('unauthenticated', 'the message has no envelope', { reason: 'EnvelopeMissing' });
  }
  return { domain, rest: cut.rest, envelope: readEnvelope(cut.value) };
}

/** Whether the key signed the message as a part of the stream. */
export const isSealedBy = (key: KeyObject, { domain, rest, envelope }: SealedMessage, streamId: string): boolean =>
  isSignedBy(key, { domain, streamId, sequence: envelope.sequence, rest }, envelope.signature);

/** The same in a thread of the pool. */
export const isSealedByInPool = (
  key: KeyObject,
  { domain, rest, envelope }: SealedMessage,
  streamId: string,
): Promise<boolean> =>
  isSignedByInPool(key, { domain, streamId, sequence: envelope.sequence, rest }, envelope.signature);

/** @throws AppError `unauthenticated` where the sender's clock is too far from ours. */
export function assertFresh({ timestamp }: SealNodeEnvelope, now: number): void {
  if (timestamp !== undefined && Math.abs(timestamp.getTime() - now) <= edgeLimits.skewMs) return;
  const most = edgeLimits.skewMs / 1_000;
  throw new AppError('unauthenticated', `envelope.timestamp is more than ${most} s from the time of the receiver`, {
    reason: 'ClockSkew',
  });
}

/** Nothing signs the envelope itself: each field is there once, and none that we do not know. */
function readEnvelope(bytes: Uint8Array): SealNodeEnvelope {
  const seen = new Set<number>();
  for (const { number } of readFields(bytes)) {
    if (number > fields || seen.has(number)) throw malformed(`field ${number}`);
    seen.add(number);
  }
  const envelope = decode(bytes);
  if (envelope.nodeId.length > edgeLimits.uuidLength) throw malformed('node_id');
  if (envelope.securityToken.length > edgeLimits.tokenLength) throw malformed('security_token');
  return envelope;
}

function decode(bytes: Uint8Array): SealNodeEnvelope {
  try {
    return SealNodeEnvelope.decode(bytes);
  } catch (error) {
    throw new AppError('invalid', 'the envelope cannot be read', { reason: 'MessageInvalid', cause: error });
  }
}

/** Highest field of SealNodeEnvelope. */
const fields = 5;

const malformed = (what: string): AppError =>
  new AppError('invalid', `the envelope holds a ${what} that is not taken`, { reason: 'MessageInvalid' });
