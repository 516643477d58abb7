import { WindlassApiError } from '../../../client/index.ts';
import type { State } from '../../../crds/schema/state.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { WorkflowExecutionStatus } from '../../../crds/schema/workflow-execution-status.ts';
import type { StreamName } from '../../../lib/capture/captured-streams.ts';
import type { LogPlace, StoredLog } from '../../../lib/execution/log-source.ts';
import type { LogSink } from '../../../lib/execution/read-logs.ts';
import type { ExecutionBackend, LiveLog, LogBackend } from '../backend.ts';
import type { HttpDeps } from './deps.ts';

/** How long to wait before looking again whether what is still being read has come to its end. */
const lookAgainMs = 100;
const streams: readonly StreamName[] = ['stdout', 'stderr'];

/** Output of commands from the API: each stream by itself, live while the command runs. */
export function createLogs(deps: HttpDeps, executions: Pick<ExecutionBackend, 'follow'>): LogBackend {
  return {
    async *changes(execution, signal) {
      let latest = execution;
      for await (const change of executions.follow(execution, signal)) yield (latest = change);
      for (; !signal.aborted; await deps.clock.sleep(lookAgainMs, signal)) yield latest;
    },
    live: async (execution, place) => {
      const names = await stepsOf(deps, execution, place);
      return names.map((step) => liveLog(deps, execution, { ...place, step }));
    },
    singleSteps: async (execution, log) => {
      if (log.step !== '*') return [log];
      const names = await stepsOf(deps, execution, { ...log, step: undefined });
      return names.map((step) => ({ ...log, step }));
    },
    readStored: (execution, log, sink) => readStored(deps, execution, log, sink),
  };
}

/** The steps of a parallel state, which its definition names; undefined means the one command of any other state. */
async function stepsOf(
  { client }: HttpDeps,
  { status }: WorkflowExecution,
  { state, step }: LogPlace,
): Promise<readonly (string | undefined)[]> {
  const kind = status?.current?.state === state ? status.current.kind : kindOf(status, state);
  if (kind !== 'ParallelContainerRun') return [undefined];
  if (step !== undefined) return [step];
  return status?.workflow === undefined ? [undefined] : definedSteps(client, status.workflow, state);
}

/** A workflow that is gone meanwhile leaves the steps nameless: their output then comes as one. */
async function definedSteps(
  client: HttpDeps['client'],
  { uid, version }: Pick<NonNullable<WorkflowExecutionStatus['workflow']>, 'uid' | 'version'>,
  state: string,
): Promise<readonly (string | undefined)[]> {
  try {
    const { spec } = await client.readWorkflow({ workflow: uid, version });
    const definition = spec.states[state] as State | undefined;
    return definition?.kind === 'ParallelContainerRun' ? definition.steps.map(({ name }) => name).toSorted() : [];
  } catch (error) {
    if (error instanceof WindlassApiError && error.status === 404) return [undefined];
    throw error;
  }
}

function kindOf(status: WorkflowExecution['status'], state: string): string | undefined {
  return status?.history?.find((visit) => visit.state === state)?.kind;
}

async function readStored(deps: HttpDeps, execution: WorkflowExecution, log: StoredLog, sink: LogSink): Promise<void> {
  for (const stream of streams) await readStream(deps, execution, { ...log, stream, follow: false }, sink);
}

/** Both streams at once: the API does not report the order of writes between them. */
function liveLog(deps: HttpDeps, execution: WorkflowExecution, place: LogPlace): LiveLog {
  return {
    place,
    // The server continues with the next attempt by itself.
    attempt: Number.POSITIVE_INFINITY,
    async read({ follow, signal }, sink) {
      await Promise.all(
        streams.map((stream) => readStream(deps, execution, { ...place, stream, follow, signal }, sink)),
      );
      return true;
    },
  };
}

interface StreamChoice extends LogPlace {
  readonly stream: StreamName;
  readonly follow: boolean;
  readonly signal?: AbortSignal;
}

async function readStream(
  { client }: HttpDeps,
  { metadata }: WorkflowExecution,
  { state, visit, step, stream, follow, signal }: StreamChoice,
  sink: LogSink,
): Promise<void> {
  const choice = { execution_id: metadata.uid ?? '', state, visit, step, stream, follow };
  try {
    const bytes = await client.readExecutionLogs(choice, { signal, ...(follow ? { timeoutMs: wholeDayMs } : {}) });
    for await (const chunk of bytes) await sink(stream, chunk);
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}

/** A reader may follow a silent command for a day. */
const wholeDayMs = 86_400_000;
