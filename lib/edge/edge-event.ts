import {
  CapabilityUpdate,
  CommandProgress,
  CommandResult,
  EdgeEvent,
  Heartbeat,
  Hello,
} from '../../proto/generated/windlass/node/v1/node.ts';
import { AppError } from '../errors.ts';
import { openSealed, type SealedMessage, type Sealing, seal } from './envelope.ts';
import { readFields, writeField } from './wire.ts';

/** A daemon's message, without its kind's wrapping. */
export type EdgeEventCase = NonNullable<EdgeEvent['event']>;
type Kind = EdgeEventCase['$case'];

/** A message of a daemon as it was received; nothing of it is believed before its envelope is checked. */
export interface ReceivedEvent {
  /** Without its envelope, which is in `sealed`. */
  readonly event: EdgeEventCase;
  readonly sealed: SealedMessage;
}

/** Kinds by their field in EdgeEvent. */
const kinds: readonly Kind[] = ['hello', 'heartbeat', 'commandResult', 'commandProgress', 'capabilityUpdate'];
/** Field of the envelope in each of them. */
const envelopeField = 1;

/**
 * Reads a message of a daemon. The wrapping, which the signature does not cover, holds exactly one known field.
 * @throws AppError `invalid` for anything else, `unauthenticated` where the envelope is missing.
 */
export function readEdgeEvent(bytes: Uint8Array): ReceivedEvent {
  const [field, ...more] = readFields(bytes);
  const kind = field === undefined ? undefined : kinds[field.number - 1];
  if (field === undefined || kind === undefined || field.type !== 2 || more.length > 0) {
    throw invalid(
      'an EdgeEvent holds exactly one of hello, heartbeat, command_result, command_progress and capability_update',
    );
  }
  const sealed = openSealed(kind, bytes.subarray(field.valueFrom, field.to), envelopeField);
  return { event: decode(kind, sealed.rest), sealed };
}

/** The bytes of a message of a daemon, signed. The event's own envelope is not looked at. */
export function sealEdgeEvent(event: EdgeEventCase, sealing: Sealing): Uint8Array {
  const plain = EdgeEvent.encode({ event: withoutEnvelope(event) }).finish();
  const [field] = readFields(plain);
  const rest = field === undefined ? new Uint8Array() : plain.subarray(field.valueFrom, field.to);
  return writeField(kinds.indexOf(event.$case) + 1, seal(event.$case, { number: envelopeField, rest }, sealing));
}

function withoutEnvelope(event: EdgeEventCase): EdgeEventCase {
  switch (event.$case) {
    case 'hello':
      return { $case: 'hello', value: { ...event.value, envelope: undefined } };
    case 'heartbeat':
      return { $case: 'heartbeat', value: { ...event.value, envelope: undefined } };
    case 'commandResult':
      return { $case: 'commandResult', value: { ...event.value, envelope: undefined } };
    case 'commandProgress':
      return { $case: 'commandProgress', value: { ...event.value, envelope: undefined } };
    case 'capabilityUpdate':
      return { $case: 'capabilityUpdate', value: { ...event.value, envelope: undefined } };
  }
}

/** Readers of what the envelope signs; the envelope itself, with its token of half a kilobyte, is read once. */
const readers: Readonly<Record<Kind, (rest: Uint8Array) => EdgeEventCase>> = {
  hello: (rest) => ({ $case: 'hello', value: Hello.decode(rest) }),
  heartbeat: (rest) => ({ $case: 'heartbeat', value: Heartbeat.decode(rest) }),
  commandResult: (rest) => ({ $case: 'commandResult', value: CommandResult.decode(rest) }),
  commandProgress: (rest) => ({ $case: 'commandProgress', value: CommandProgress.decode(rest) }),
  capabilityUpdate: (rest) => ({ $case: 'capabilityUpdate', value: CapabilityUpdate.decode(rest) }),
};

function decode(kind: Kind, rest: Uint8Array): EdgeEventCase {
  try {
    return readers[kind](rest);
  } catch (error) {
    throw new AppError('invalid', 'the event cannot be read', { reason: 'MessageInvalid', cause: error });
  }
}

const invalid = (problem: string): AppError => new AppError('invalid', problem, { reason: 'MessageInvalid' });
