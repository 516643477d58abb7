import type { Execution, ExecutionSummary } from '../../../client/index.ts';
import { apiVersion, labels } from '../../../crds/labels.ts';
import type { Json } from '../../../crds/schema/parts.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type {
  CurrentState,
  StoredValue,
  Visit,
  WorkflowExecutionStatus,
} from '../../../crds/schema/workflow-execution-status.ts';

type Values = Readonly<Record<string, unknown>>;

/** An execution of a list in the form of the custom resource, with the fields that the API shows. */
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

/** The same with its input, its visits and its output. */
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
      ...visitsOf(execution),
      blackboard: Object.fromEntries(entries),
      ...(output === null ? {} : { final_output: output as Record<string, Json> }),
    },
  };
}

type Visits = Pick<WorkflowExecutionStatus, 'history' | 'current' | 'interrupted'>;

function visitsOf({ history, current, completed_at: end }: Execution): Visits {
  const past = history.length === 0 ? {} : { history: history.map(visitOf) };
  if (current === null) return past;
  return { ...past, [end === null ? 'current' : 'interrupted']: currentOf(current) };
}

type Current = NonNullable<Execution['current']>;

function currentOf({
  state,
  kind,
  visit,
  started_at,
  answers,
  attempt,
  signals_refused,
  ...rest
}: Current): CurrentState {
  const { deadline, retry_at, failure, waiting, prompt } = rest;
  return {
    state,
    kind,
    visit,
    entered_at: started_at,
    ...(attempt === 1 ? {} : { attempt }),
    ...(answers.length === 0 ? {} : { answers: [...answers] }),
    ...(signals_refused === 0 ? {} : { signals_refused }),
    ...(deadline === null ? {} : { deadline }),
    ...(retry_at === null ? {} : { retry_at }),
    ...(failure === null ? {} : { failure }),
    ...(waiting === null ? {} : { waiting }),
    ...(prompt === null ? {} : { prompt }),
  };
}

function visitOf({ state, kind, visit, status, attempts, ...rest }: PastVisit): Visit {
  const { reason, message, started_at, completed_at, rule, target, decision } = rest;
  const output = outputOf(kind, rest);
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
    ...(output === undefined ? {} : { output }),
  };
}

/** Exit codes where the custom resource has them; everything else that a visit wrote is read on demand. */
function outputOf(kind: PastVisit['kind'], { exit_code, steps }: Pick<PastVisit, 'exit_code' | 'steps'>) {
  if (exit_code !== null) return { value: { exit_code } } satisfies StoredValue;
  if (kind !== 'ParallelContainerRun') return commands.has(kind) ? {} : undefined;
  // Without exit codes the whole of it is in the output store.
  if (steps === null) return { refs: [] } satisfies StoredValue;
  const codes = Object.entries(steps).map(([name, code]) => [name, { exit_code: code }] as const);
  return { value: Object.fromEntries(codes) } satisfies StoredValue;
}

const commands: ReadonlySet<string> = new Set(['System', 'ContainerRun']);

type PastVisit = Execution['history'][number];
type Decision = NonNullable<PastVisit['decision']>;

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
function workflowOf({
  workflow,
  workflow_id,
  version,
}: Pick<ExecutionSummary, 'workflow' | 'workflow_id' | 'version'>) {
  const known = { name: workflow, uid: workflow_id ?? '', version: version ?? '' };
  return known as NonNullable<WorkflowExecutionStatus['workflow']>;
}
