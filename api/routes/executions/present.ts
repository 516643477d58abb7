import type { Json } from '../../../crds/schema/parts.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type {
  BlobRef,
  CurrentState,
  StoredValue,
  Visit,
  WorkflowExecutionStatus,
} from '../../../crds/schema/workflow-execution-status.ts';
import { entryOf, fieldsOf, outputOf } from '../../../lib/execution/blackboard-entry.ts';
import { notedWorkflow } from '../../../lib/execution/noted-workflow.ts';
import { fill, siblingOf } from '../../../lib/execution/whole-value.ts';
import { deletingOf } from '../being-deleted.ts';
import type { CurrentVisitObject, Execution, ExecutionSummary, LargeValue, PastVisit } from './execution-object.ts';

export function presentSummary(execution: WorkflowExecution): ExecutionSummary {
  const { metadata, status = { phase: 'pending' } } = execution;
  return {
    execution_id: metadata.uid ?? '',
    name: metadata.name,
    ...presentWorkflow(execution),
    status: status.phase,
    reason: status.reason ?? null,
    message: status.message ?? null,
    current_state: status.state ?? null,
    transitions: status.transitions ?? 0,
    created_at: metadata.creationTimestamp ?? '',
    started_at: status.started_at ?? null,
    completed_at: status.finished_at ?? null,
    archived: false,
    ...deletingOf(execution),
  };
}

/** The running definition; until the controllers have begun, the requested one. */
function presentWorkflow(execution: WorkflowExecution) {
  const { spec, status } = execution;
  const pinned = status?.workflow;
  if (pinned !== undefined) return { workflow_id: pinned.uid, workflow: pinned.name, version: pinned.version };
  return { workflow_id: notedWorkflow(execution) ?? null, workflow: spec.workflow, version: spec.version ?? null };
}

/** An execution with references in place of what is too large for its status (requirements AMB-154). */
export function presentExecution(execution: WorkflowExecution): Execution {
  const { spec, status = { phase: 'pending' } } = execution;
  const { history = [], blackboard = {} } = status;
  const values = Object.entries(blackboard).map(([key, stored]) => [key, valueWithReferences(stored)] as const);
  return {
    ...presentSummary(execution),
    input: spec.input ?? {},
    intent: spec.intent ?? null,
    history: history.map((visit) => presentVisit(status, visit)),
    current: presentCurrent(status.current ?? status.interrupted),
    blackboard: Object.fromEntries(values),
    final_output: finalOutputOf(status),
  };
}

function presentVisit(whole: WorkflowExecutionStatus, past: Visit): PastVisit {
  const { state, kind, visit, status, signal, ...rest } = past;
  const { exit_code = null, steps = null } = exitCodes(whole, past);
  return {
    state,
    kind,
    visit,
    status,
    reason: rest.reason ?? null,
    message: rest.message ?? null,
    attempts: rest.attempts ?? 1,
    exit_code,
    steps,
    started_at: rest.entered_at,
    completed_at: rest.finished_at,
    rule: rest.rule ?? null,
    target: rest.target ?? null,
    decision:
      signal === undefined
        ? null
        : { by: signal.by, via: signal.via ?? null, at: signal.at, response: signal.response },
  };
}

function presentCurrent(current: CurrentState | undefined): CurrentVisitObject | null {
  if (current === undefined) return null;
  const { state, kind, visit, entered_at, attempt = 1, answers = [], signals_refused = 0 } = current;
  return {
    state,
    kind,
    visit,
    started_at: entered_at,
    deadline: current.deadline ?? null,
    attempt,
    retry_at: current.retry_at ?? null,
    failure: current.failure ?? null,
    waiting: current.waiting ?? null,
    prompt: current.prompt ?? null,
    answers,
    signals_refused,
  };
}

interface ExitCodes {
  readonly exit_code?: number | undefined;
  readonly steps?: Record<string, number>;
}

/** The exit codes of a visit. They are left out where the whole entry is in the output store. */
export function exitCodes(status: WorkflowExecutionStatus, visit: Visit): ExitCodes {
  const output = outputOf(entryOf(status, visit)) ?? {};
  if (visit.kind !== 'ParallelContainerRun') {
    return visit.kind === 'System' || visit.kind === 'ContainerRun' ? { exit_code: codeOf(output['exit_code']) } : {};
  }
  const codes = Object.entries(output).flatMap(([step, result]) => {
    const code = codeOf(fieldsOf(result)?.['exit_code']);
    return code === undefined ? [] : [[step, code] as const];
  });
  return codes.length === 0 ? {} : { steps: Object.fromEntries(codes) };
}

const codeOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

/** `final_output` as it can be shown without the output store; null without one (requirements WF-API-04, WF-API-05). */
export function finalOutputOf({ final_output: inline, final_output_ref: ref }: WorkflowExecutionStatus) {
  return inline ?? (ref === undefined ? null : reference(ref, false));
}

/** A value with a reference at each part that is in the output store. */
function valueWithReferences(stored: StoredValue): Json {
  if (stored.refs === undefined) return stored.value ?? null;
  return fill(stored, new Map(stored.refs.map((part) => [part.path, reference(part, isTruncated(stored, part))])));
}

export function reference({ ref, bytes }: BlobRef, truncated: boolean): LargeValue {
  return { ref, bytes, truncated };
}

/** Beside each stream a flag says whether all of it was kept (requirements AMB-164). */
export function isTruncated(stored: StoredValue, { path }: BlobRef): boolean {
  return siblingOf(stored.value ?? null, path, '_truncated') === true;
}
