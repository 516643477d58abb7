import type { ExecutionEvent } from '../../../client/index.ts';
import type { Json } from '../../../crds/schema/parts.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type {
  CurrentState,
  StoredValue,
  Visit,
  WorkflowExecutionStatus,
} from '../../../crds/schema/workflow-execution-status.ts';
import { defined } from '../../../lib/defined.ts';
import { workflowOf } from './execution-object.ts';

type Names<U> = U extends unknown ? keyof U : never;
type EventType = Names<ExecutionEvent>;
type Fields<T extends EventType> = Extract<ExecutionEvent, Readonly<Record<T, unknown>>>[T];
type Status = WorkflowExecutionStatus;

/** What each type of event says about the status. */
type Telling = {
  readonly [T in Exclude<EventType, 'workflow_execution_deleted'>]: (status: Status, fields: Fields<T>) => Status;
};

/**
 * The execution after an event, in the form that its custom resource has then: the same visits, the same times. Pure.
 * An event of a type that this version does not know changes nothing; so does that it was deleted.
 */
export function afterEvent(execution: WorkflowExecution, event: ExecutionEvent): WorkflowExecution {
  const [type = '', fields] = Object.entries(event)[0] ?? [];
  if (!Object.hasOwn(telling, type)) return execution;
  const tell = telling[type as keyof Telling] as (status: Status, fields: unknown) => Status;
  return { ...execution, status: tell(execution.status ?? { phase: 'pending' }, fields) };
}

const telling: Telling = {
  workflow_execution_started: (status, { started_at, workflow, workflow_id, version }) => ({
    ...status,
    phase: 'running',
    started_at,
    workflow: workflowOf({ workflow, workflow_id, version }),
  }),
  state_started: (status, { state, kind, visit, started_at, deadline }) => ({
    ...status,
    phase: 'running',
    state,
    current: { state, kind, visit, entered_at: started_at, ...(deadline === undefined ? {} : { deadline }) },
  }),
  human_approval_requested: (status, { prompt, answers }) => ({
    ...status,
    phase: 'waiting',
    ...ofCurrent(status, defined({ prompt, answers: answers && [...answers] })),
  }),
  state_retried: (status, { attempt, reason, message = '', retry_at }) => ({
    ...status,
    ...ofCurrent(status, {
      attempt,
      ...(retry_at === undefined ? {} : { retry_at }),
      ...(reason === undefined ? {} : { failure: { reason, message } }),
    }),
  }),
  state_completed: (status, fields) => ({
    ...withoutCurrent(status),
    phase: 'running',
    history: [...(status.history ?? []), visitOf(status.current, fields)],
    transitions: (status.transitions ?? 0) + (fields.target === undefined ? 0 : 1),
  }),
  workflow_execution_completed: (status, { final_output: output, transitions, completed_at, reason, message }) => ({
    ...ended(status, 'completed', completed_at),
    transitions,
    ...defined({ reason, message }),
    ...(output === null || isLarge(output) ? {} : { final_output: output as Record<string, Json> }),
  }),
  workflow_execution_failed: (status, { reason, error, transitions, failed_at }) => ({
    ...ended(status, 'failed', failed_at),
    transitions,
    reason,
    message: error,
  }),
  workflow_execution_cancelled: (status, { reason, transitions, cancelled_at }) => ({
    ...ended(status, 'cancelled', cancelled_at),
    transitions,
    ...(reason === undefined ? {} : { message: reason }),
  }),
};

function ofCurrent({ current }: Status, changes: Partial<CurrentState>): Pick<Status, 'current'> {
  return current === undefined ? {} : { current: { ...current, ...changes } };
}

function ended(status: Status, phase: Status['phase'], finished_at: string): Status {
  const { current: interrupted } = status;
  return { ...withoutCurrent(status), phase, finished_at, ...(interrupted && { interrupted }) };
}

function withoutCurrent(status: Status): Status {
  const { current: _, ...rest } = status;
  return rest;
}

function visitOf(current: CurrentState | undefined, fields: Fields<'state_completed'>): Visit {
  const { state, visit, status, reason, message, attempts, rule, target, completed_at } = fields;
  const output = outputOf(current, fields);
  return {
    state,
    kind: current?.kind ?? 'System',
    visit,
    status,
    entered_at: current?.entered_at ?? completed_at,
    finished_at: completed_at,
    ...defined({ reason, message, attempts, rule, target, output, signal: signalOf(fields) }),
  };
}

function signalOf({ state, visit, response, by = '', completed_at }: Fields<'state_completed'>): Visit['signal'] {
  return response === undefined ? undefined : { id: `${state}-${visit}`, by, at: completed_at, response };
}

/** Exit codes where they stand in the custom resource; what else was written is read when it is asked for. */
function outputOf(current: CurrentState | undefined, fields: Fields<'state_completed'>): StoredValue | undefined {
  const { exit_code, steps } = fields;
  if (exit_code !== undefined) return { value: { exit_code } };
  if (current?.kind !== 'ParallelContainerRun') return commands.has(current?.kind ?? '') ? {} : undefined;
  // Without exit codes the whole of it stands in the output store.
  if (steps === undefined) return { refs: [] };
  return { value: Object.fromEntries(Object.entries(steps).map(([name, code]) => [name, { exit_code: code }])) };
}

const commands = new Set(['System', 'ContainerRun']);

function isLarge(output: object): boolean {
  return ['ref', 'bytes', 'truncated'].every((key) => Object.hasOwn(output, key)) && Object.keys(output).length === 3;
}
