import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import type {
  CurrentState,
  Visit,
  WorkflowExecutionStatus,
} from '../../../../crds/schema/workflow-execution-status.ts';
import { approvalId } from '../../../../lib/decision/approval-id.ts';
import { defined } from '../../../../lib/defined.ts';
import { finished, succeeded } from '../../../../lib/execution/finished.ts';
import { exitCodes, finalOutputOf } from '../present.ts';
import type { EventFields, EventType, ExecutionEvent } from './event-schema.ts';
import {
  approvalRequested,
  attemptStarted,
  endPosition,
  isBehind,
  type EventPosition,
  startPosition,
  visitCompleted,
  visitStarted,
} from './position.ts';

/** An event, and its place in the history of its execution. */
export interface PlacedEvent {
  readonly position: EventPosition;
  readonly event: ExecutionEvent;
}

/**
 * Events of an execution behind `after`, in order. They follow from this version of the object alone: a reader of
 * every version and a reader of only the last get the same.
 */
export function eventsBehind(execution: WorkflowExecution, after: EventPosition): PlacedEvent[] {
  const { status } = execution;
  if (status === undefined) return [];
  const { history = [] } = status;
  const open = status.current ?? status.interrupted;
  const all: (PlacedEvent | undefined)[] = [started(execution, status)];
  for (const [index, visit] of history.entries()) {
    if (index + 1 >= after.visit) all.push(...visitEvents(execution, status, visit, index + 1));
  }
  if (open !== undefined) all.push(...openVisitEvents(execution, open, history.length + 1));
  all.push(ended(execution, status));
  return all.filter((placed) => placed !== undefined).filter(({ position }) => isBehind(position, after));
}

/** The event of an execution that is deleted before its end. */
export function deletedEvent(uid: string): PlacedEvent {
  return place(endPosition, 'workflow_execution_deleted', { execution_id: uid });
}

function place<T extends EventType>(position: EventPosition, type: T, fields: EventFields[T]): PlacedEvent {
  return { position, event: { [type]: fields } as unknown as ExecutionEvent };
}

function started({ metadata }: WorkflowExecution, status: WorkflowExecutionStatus): PlacedEvent | undefined {
  const { started_at, workflow } = status;
  if (started_at === undefined || workflow === undefined) return undefined;
  return place(startPosition, 'workflow_execution_started', {
    execution_id: metadata.uid ?? '',
    workflow_id: workflow.uid,
    workflow: workflow.name,
    version: workflow.version,
    started_at,
  });
}

/** A visit that has ended. */
function visitEvents(
  execution: WorkflowExecution,
  status: WorkflowExecutionStatus,
  visit: Visit,
  number: number,
): PlacedEvent[] {
  const which = whichVisit(execution, visit);
  return [
    beginning(which, visit, number),
    ...(visit.kind === 'Human' && hasWaited(visit)
      ? [requested(which, number, { requested_at: visit.entered_at })]
      : []),
    ...attempts(visit.attempts).map((attempt) =>
      place(attemptStarted(number, attempt), 'state_retried', { ...which, attempt }),
    ),
    place(visitCompleted(number), 'state_completed', { ...which, ...outcomeOf(status, visit) }),
  ];
}

/** The visit that is under way, or was when the execution ended. */
function openVisitEvents(execution: WorkflowExecution, current: CurrentState, number: number): PlacedEvent[] {
  const which = whichVisit(execution, current);
  const { kind, entered_at, prompt, answers, attempt: latest } = current;
  return [
    beginning(which, current, number),
    ...(kind === 'Human' ? [requested(which, number, { requested_at: entered_at, prompt, answers })] : []),
    ...attempts(latest).map((attempt) =>
      place(attemptStarted(number, attempt), 'state_retried', {
        ...which,
        attempt,
        ...(attempt === latest ? whyRetried(current) : {}),
      }),
    ),
  ];
}

type WhichVisit = Pick<EventFields['state_started'], 'execution_id' | 'state' | 'visit'>;

function whichVisit({ metadata }: WorkflowExecution, { state, visit }: Pick<Visit, 'state' | 'visit'>): WhichVisit {
  return { execution_id: metadata.uid ?? '', state, visit };
}

type Beginning = Pick<CurrentState, 'kind' | 'entered_at' | 'deadline'>;

function beginning(which: WhichVisit, { kind, entered_at, deadline }: Beginning, number: number): PlacedEvent {
  return place(visitStarted(number), 'state_started', { ...which, kind, started_at: entered_at, deadline });
}

type Request = Pick<EventFields['human_approval_requested'], 'requested_at' | 'prompt' | 'answers'>;

function requested(which: WhichVisit, number: number, request: Request): PlacedEvent {
  const request_id = approvalId(which.execution_id, which);
  return place(approvalRequested(number), 'human_approval_requested', { ...which, request_id, ...request });
}

/** A Human state whose prompt could not be made has asked no question. */
function hasWaited({ status, reason }: Visit): boolean {
  return status === 'success' || (reason !== 'TemplateFailed' && reason !== 'OutputLost');
}

/** The attempts behind the first. */
function attempts(latest = 1): number[] {
  return Array.from({ length: Math.max(0, latest - 1) }, (_, index) => index + 2);
}

function whyRetried({ failure, retry_at }: CurrentState): Partial<EventFields['state_retried']> {
  return { ...failure, retry_at };
}

type Outcome = Omit<EventFields['state_completed'], keyof WhichVisit>;

function outcomeOf(status: WorkflowExecutionStatus, visit: Visit): Outcome {
  const { reason, message, attempts: made, rule, target, signal } = visit;
  return defined({
    status: visit.status,
    reason,
    message,
    attempts: made,
    ...exitCodes(status, visit),
    response: signal?.response,
    by: signal?.by,
    rule,
    target,
    completed_at: visit.finished_at,
  });
}

/** That a workflow which came to its end did not do what it was for (requirements AMB-169). */
function shortfall(
  status: WorkflowExecutionStatus,
): Pick<EventFields['workflow_execution_completed'], 'reason' | 'message'> {
  return succeeded(status) ? {} : { reason: status.reason, message: status.message };
}

function ended(execution: WorkflowExecution, status: WorkflowExecutionStatus): PlacedEvent | undefined {
  const { finished_at: at, transitions = 0, reason = '', message = '' } = status;
  if (!finished(execution) || at === undefined) return undefined;
  const execution_id = execution.metadata.uid ?? '';
  if (status.phase === 'completed') {
    const final_output = finalOutputOf(status);
    return place(endPosition, 'workflow_execution_completed', {
      execution_id,
      final_output,
      transitions,
      completed_at: at,
      ...shortfall(status),
    });
  }
  if (status.phase === 'failed') {
    return place(endPosition, 'workflow_execution_failed', {
      execution_id,
      reason,
      error: message,
      transitions,
      failed_at: at,
    });
  }
  const { by, reason: why } = execution.spec.cancel ?? {};
  return place(
    endPosition,
    'workflow_execution_cancelled',
    defined({ execution_id, by, reason: why, transitions, cancelled_at: at }),
  );
}
