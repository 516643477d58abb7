import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { defined } from '../../../lib/defined.ts';
import type { PlacedRecord } from '../../agents/conversation/feed.ts';
import type { AgentEvent } from './schema.ts';

/** An event with what a client sends back as Last-Event-ID. */
interface IdentifiedEvent {
  readonly id: string;
  readonly data: AgentEvent;
}

/** The id of the event that ends a stream. Other ids are places in the conversation. */
export const endId = 'end';

/** The event of a record (spec 1 §6); undefined for a record that only the raw conversation shows. */
export function eventOf(executionId: string, { sequence, record }: PlacedRecord): IdentifiedEvent | undefined {
  const of = (data: AgentEvent): IdentifiedEvent => ({ id: String(sequence), data });
  const execution_id = executionId;
  switch (record.kind) {
    case 'started':
      return of({ execution_started: { execution_id, agent_id: record.agent_id, started_at: record.at } });
    case 'iteration_started': {
      const { iteration: iteration_number, action, at: started_at } = record;
      return of({ iteration_started: { execution_id, iteration_number, action, started_at } });
    }
    case 'iteration_completed': {
      const { iteration: iteration_number, output, at: completed_at } = record;
      return of({ iteration_completed: { execution_id, iteration_number, output, completed_at } });
    }
    case 'ended':
      return { id: endId, data: outcomeEvent(executionId, record.result) };
    default:
      return undefined;
  }
}

type Outcome = Pick<
  NonNullable<AgentExecution['spec']['result']>,
  'phase' | 'reason' | 'message' | 'output' | 'iterations' | 'at'
>;

function outcomeEvent(execution_id: string, result: Outcome): AgentEvent {
  const { phase, reason = 'Failed', message = '', output = '', iterations: total_iterations = 0, at } = result;
  return phase === 'completed'
    ? { execution_completed: { execution_id, final_output: output, total_iterations, completed_at: at } }
    : { execution_failed: { execution_id, error: sentence(reason, message), total_iterations, failed_at: at } };
}

/** requirements AMB-032 gives a failure one text. */
const sentence = (reason: string, message: string): string => (message === '' ? reason : `${reason}: ${message}`);

/** The phases in which nothing more happens. */
type EndPhase = 'completed' | 'failed' | 'cancelled';

export const endPhaseOf = ({ status }: Pick<AgentExecution, 'status'>): EndPhase | undefined =>
  status?.phase === 'completed' || status?.phase === 'failed' || status?.phase === 'cancelled'
    ? status.phase
    : undefined;

/**
 * The events that end a stream whose conversation has no end: of an execution that was cancelled, that failed before its
 * agent began, or whose records are gone. `isNew`: the client has received nothing, so a start comes first where there was
 * one. Undefined: the execution was deleted.
 */
export function closingEvents(uid: string, ended: AgentExecution | undefined, isNew: boolean): IdentifiedEvent[] {
  if (ended === undefined) return [{ id: endId, data: { execution_deleted: { execution_id: uid } } }];
  const started = isNew ? startedEvent(uid, ended) : undefined;
  return [...(started === undefined ? [] : [started]), { id: endId, data: closingEvent(uid, ended) }];
}

/** The start of an execution whose agent gave a result and whose records are gone. */
function startedEvent(execution_id: string, { spec, status }: AgentExecution): IdentifiedEvent | undefined {
  const { agent, started_at, phase } = status ?? {};
  const hasRun = phase === 'completed' || spec.result !== undefined;
  if (!hasRun || agent === undefined || started_at === undefined) return undefined;
  return { id: '0', data: { execution_started: { execution_id, agent_id: agent.uid, started_at } } };
}

function closingEvent(execution_id: string, execution: AgentExecution): AgentEvent {
  const { status = {}, spec, metadata } = execution;
  const at = status.finished_at ?? spec.result?.at ?? metadata.creationTimestamp ?? '';
  const phase = endPhaseOf(execution) ?? 'failed';
  if (phase === 'cancelled') {
    const { by, reason } = spec.cancel ?? {};
    return { execution_cancelled: { execution_id, ...defined({ by, reason }), cancelled_at: at } };
  }
  const { reason, message, iterations } = status;
  return outcomeEvent(execution_id, { ...defined({ reason, message, iterations }), at, ...spec.result, phase });
}
