import type { Execution, ExecutionSummary } from '../../../client/index.ts';
import { apiVersion, labels } from '../../../crds/labels.ts';
import type { Json } from '../../../crds/schema/parts.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { Visit, WorkflowExecutionStatus } from '../../../crds/schema/workflow-execution-status.ts';

type Values = Readonly<Record<string, unknown>>;

/** An execution of a list in the form of the custom resource, as far as the API tells it. */
export function executionOf(summary: ExecutionSummary): WorkflowExecution {
  const { execution_id, name, workflow, workflow_id, version, created_at } = summary;
  const status = statusOf(summary);
  return {
    apiVersion,
    kind: 'WorkflowExecution',
    metadata: {
      name,
      uid: execution_id,
      creationTimestamp: created_at,
      labels: { [labels.workflow]: workflow, ...(workflow_id === null ? {} : { [labels.workflowUid]: workflow_id }) },
    },
    spec: { workflow, ...(version === null ? {} : { version }) },
    ...(status === undefined ? {} : { status }),
  };
}

/**
 * The same with what was put in and what has come out. What happened in between the events tell; of one that is read from
 * the archive there are none, and its history does.
 */
export function wholeExecutionOf(execution: Execution): WorkflowExecution {
  const summary = executionOf(execution);
  const { input, intent, blackboard, final_output: output } = execution;
  const { status } = summary;
  if (status === undefined) return { ...summary, spec: { ...summary.spec, ...given(input, intent) } };
  const entries = Object.entries(blackboard).map(([key, value]) => [key, { value: value as Json }] as const);
  return {
    ...summary,
    spec: { ...summary.spec, ...given(input, intent) },
    status: {
      ...status,
      ...(execution.archived ? { history: execution.history.map(visitOf) } : {}),
      blackboard: Object.fromEntries(entries),
      ...(output === null ? {} : { final_output: output as Record<string, Json> }),
    },
  };
}

function visitOf({ state, kind, visit, status, attempts, ...rest }: Execution['history'][number]): Visit {
  const { reason, message, started_at, completed_at, rule, target, decision } = rest;
  return {
    state,
    kind,
    visit,
    status,
    attempts,
    entered_at: started_at,
    finished_at: completed_at,
    ...(reason === null ? {} : { reason }),
    ...(message === null ? {} : { message }),
    ...(rule === null ? {} : { rule }),
    ...(target === null ? {} : { target }),
    ...(decision === null ? {} : { signal: signalOf(`${state}-${visit}`, decision) }),
  };
}

type Decision = NonNullable<Execution['history'][number]['decision']>;

const signalOf = (id: string, { via, ...decision }: Decision): NonNullable<Visit['signal']> => ({
  id,
  ...decision,
  ...(via === null ? {} : { via }),
});

function given(input: Values, intent: string | null): Partial<WorkflowExecution['spec']> {
  return {
    ...(Object.keys(input).length === 0 ? {} : { input: input as Record<string, Json> }),
    ...(intent === null ? {} : { intent }),
  };
}

/** None as long as no controller has looked at it. */
function statusOf(summary: ExecutionSummary): WorkflowExecutionStatus | undefined {
  const { status: phase, reason, message, started_at, completed_at, current_state } = summary;
  if (phase === 'pending' && reason === null && started_at === null) return undefined;
  return {
    phase,
    transitions: summary.transitions,
    ...(reason === null ? {} : { reason }),
    ...(message === null ? {} : { message }),
    ...(started_at === null ? {} : { started_at, workflow: workflowOf(summary) }),
    ...(completed_at === null ? {} : { finished_at: completed_at }),
    ...(current_state === null ? {} : { state: current_state }),
  };
}

/** Namespace and revision are what only Kubernetes knows. */
export function workflowOf({
  workflow,
  workflow_id,
  version,
}: Pick<ExecutionSummary, 'workflow' | 'workflow_id' | 'version'>) {
  const known = { name: workflow, uid: workflow_id ?? '', version: version ?? '' };
  return known as NonNullable<WorkflowExecutionStatus['workflow']>;
}
