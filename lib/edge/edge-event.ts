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
import { edgeLimits } from './limits.ts';
import { assertFields, type MessageForm, readFields, writeField } from './wire.ts';

/** A daemon's message, without its kind's wrapping. */
export type EdgeEventCase = NonNullable<EdgeEvent['event']>;
type Kind = EdgeEventCase['$case'];

/** A message of a daemon as it was received; nothing of it is believed before its envelope is checked. */
export interface ReceivedEvent {
  /**
   * Without its envelope, which is in `sealed`. Decoded when it is first asked for, so that a message without proof costs little.
   * @throws AppError `invalid`
   */
  readonly event: EdgeEventCase;
  readonly sealed: SealedMessage;
}

/** Kinds by their field in EdgeEvent. */
const kinds: readonly Kind[] = ['hello', 'heartbeat', 'commandResult', 'commandProgress', 'capabilityUpdate'];
/** Field of the envelope in each of them. */
const envelopeField = 1;

const flat: MessageForm = {};
const envelopeForm: MessageForm = { 4: flat };
const report: MessageForm = { 1: envelopeForm, 2: { 5: flat, 10: flat } };
/** Messages inside each kind. A payload is bytes here: it is decoded by itself, and later. */
const forms: Readonly<Record<Kind, MessageForm>> = {
  hello: report,
  heartbeat: { 1: envelopeForm, 2: flat },
  commandResult: { 1: envelopeForm, 3: { 1: { 2: flat, 3: flat }, 2: flat, 3: { 1: flat }, 4: flat } },
  commandProgress: { 1: envelopeForm, 3: { 3: flat } },
  capabilityUpdate: report,
};

/**
 * Opens a message of a daemon. The wrapping, which the signature does not cover, holds exactly one known field.
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
  const message = bytes.subarray(field.valueFrom, field.to);
  if (forms[kind] === report && message.length > edgeLimits.reportBytes)
    throw invalid(`a ${kind} has more than ${edgeLimits.reportBytes} bytes`);
  assertFields(message, forms[kind]);
  const sealed = openSealed(kind, message, envelopeField);
  let event: EdgeEventCase | undefined;
  return {
    sealed,
    get event() {
      return (event ??= decode(kind, sealed.rest));
    },
  };
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
