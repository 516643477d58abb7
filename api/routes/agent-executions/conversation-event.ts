import { defined } from '../../../lib/defined.ts';
import type { ConversationRecord } from '../../../lib/conversation/record.ts';
import type { PlacedRecord } from '../../agents/conversation/feed.ts';
import type { AgentEvent, ConversationEvent } from './schema.ts';
import { eventOf } from './stream-events.ts';

interface IdentifiedConversationEvent {
  readonly id: string;
  readonly data: ConversationEvent;
}

/**
 * A record as an event of `/events` (requirements AMB-031). One that the stream shows as well has the type and the fields that it
 * has there, and what else is on record; any other has the kind of the record.
 */
export function conversationEvent(executionId: string, placed: PlacedRecord): IdentifiedConversationEvent {
  const { sequence, record } = placed;
  const event = eventOf(executionId, placed);
  if (event !== undefined) return { id: event.id, data: typed(event.data, record.at, unshown(record)) };
  const { kind: type, at: time, ...data } = record;
  return { id: String(sequence), data: { type, time, data } };
}

/** An event of the stream, whose one key is its type, with that type as a field. */
export function typed(event: AgentEvent, time: string, more: object = {}): ConversationEvent {
  const [[type, fields] = ['', {}]] = Object.entries<object>(event);
  return { type, time, data: { ...more, ...fields } };
}

/** The fields of a record that its event of the stream leaves out. */
function unshown(record: ConversationRecord): object {
  switch (record.kind) {
    case 'started': {
      const { agent, version, system, input, model } = record;
      return { agent, version, system, input, model };
    }
    case 'iteration_started':
      return defined({ feedback: record.feedback });
    case 'iteration_completed': {
      const { accepted, score, feedback } = record;
      return defined({ accepted, score, feedback });
    }
    case 'ended': {
      const {
        phase: _phase,
        output: _output,
        message: _message,
        at: _at,
        iterations: _iterations,
        ...rest
      } = record.result;
      return rest;
    }
    default:
      return {};
  }
}
