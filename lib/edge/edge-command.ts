import type { KeyObject } from 'node:crypto';
import { EdgeCommand } from '../../proto/generated/windlass/node/v1/node.ts';
import { AppError } from '../errors.ts';
import { isSealedBy, openSealed, type Sealing, seal } from './envelope.ts';
import { readFields } from './wire.ts';

/** Field of the envelope in EdgeCommand. */
const envelopeField = 10;
const known = new Set([1, 2, 3, 4, 5, envelopeField, 11]);

/** The bytes of a message to a daemon, signed by the relay's key. The command's own envelope is not looked at. */
export function sealEdgeCommand(
  command: Pick<EdgeCommand, 'command' | 'resultAck'>,
  sealing: Omit<Sealing, 'token'>,
): Uint8Array {
  return seal('command', unsealed(command), { ...sealing, token: '' });
}

const unsealed = (command: Pick<EdgeCommand, 'command' | 'resultAck'>) => ({
  number: envelopeField,
  rest: EdgeCommand.encode({ ...command, serverEnvelope: undefined }).finish(),
});

/** Where a daemon expects the next message. */
interface ExpectedCommand {
  /** Pinned at the enrollment. */
  readonly key: KeyObject;
  readonly nodeId: string;
  readonly streamId: string;
  /** Sequence of the last message that was accepted; 0 before the first. */
  readonly after: bigint;
}

/** A message of the server that its envelope proves. */
interface OpenedCommand {
  readonly command: EdgeCommand;
  readonly sequence: bigint;
}

/**
 * Reads a message of the server as it was received, and checks its envelope.
 * @throws AppError `unauthenticated` where the pinned key has not signed it for this host, this stream and this place in
 * it; `invalid` where it cannot be read in one way only.
 */
export function openEdgeCommand(bytes: Uint8Array, { key, nodeId, streamId, after }: ExpectedCommand): OpenedCommand {
  const numbers = readFields(bytes).map(({ number }) => number);
  if (new Set(numbers).size !== numbers.length || numbers.some((number) => !known.has(number))) {
    throw invalid('an EdgeCommand holds each of its fields once, and no others');
  }
  const sealed = openSealed('command', bytes, envelopeField);
  const { sequence, nodeId: target } = sealed.envelope;
  if (!isSealedBy(key, sealed, streamId)) throw refused('the key of the relay has not signed the message');
  if (target !== nodeId) throw refused('the message is for another host');
  if (sequence <= after) throw refused('the message repeats a sequence');
  return { command: decode(bytes), sequence };
}

function decode(bytes: Uint8Array): EdgeCommand {
  try {
    return EdgeCommand.decode(bytes);
  } catch (error) {
    throw new AppError('invalid', 'the command cannot be read', { reason: 'MessageInvalid', cause: error });
  }
}

const invalid = (problem: string): AppError => new AppError('invalid', problem, { reason: 'MessageInvalid' });
const refused = (problem: string): AppError => new AppError('unauthenticated', problem, { reason: 'EnvelopeInvalid' });
