import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { Clock } from '../../../lib/clock.ts';
import { deleted, ExecutionError } from '../../../lib/execution/execution-error.ts';
import { workflowExecutions } from '../../../lib/kinds.ts';
import type { KubeClient, ObjectRef } from '../../../lib/kube/index.ts';
import { isAbsent, isRetryable, KubeError } from '../../../lib/kube/kube-error.ts';

export interface FollowDeps {
  readonly kube: Pick<KubeClient, 'get' | 'watch'>;
  readonly clock: Clock;
}

const firstPauseMs = 200;
const longestPauseMs = 5_000;
/** The server ends each watch after this time; a watch silent for much longer hangs on a dead connection. */
const watchSeconds = 60;
const silenceMs = (watchSeconds + 15) * 1000;

/**
 * Every state of an execution from now on, the present one first; states in quick succession may be merged into the
 * last. Survives lost connections and expired watches. Ends quietly when `signal` aborts; throws when the first read
 * fails, when access is refused, and when the execution is deleted.
 */
export async function* followExecution(
  deps: FollowDeps,
  ref: ObjectRef,
  signal: AbortSignal,
): AsyncGenerator<WorkflowExecution, void> {
  let seen: WorkflowExecution | undefined;
  let pauseMs = firstPauseMs;
  while (!signal.aborted) {
    const latest = await (seen === undefined ? read(deps, ref, signal) : readAgain(deps, seen, signal));
    if (latest !== undefined) {
      if (latest.metadata.resourceVersion !== seen?.metadata.resourceVersion) yield latest;
      seen = latest;
      for await (const change of changesAfter(deps, latest, signal)) {
        pauseMs = firstPauseMs;
        seen = change;
        yield change;
      }
    }
    await deps.clock.sleep(pauseMs, signal);
    pauseMs = Math.min(longestPauseMs, pauseMs * 2);
  }
}

async function read(
  { kube }: Pick<FollowDeps, 'kube'>,
  ref: ObjectRef,
  signal: AbortSignal,
): Promise<WorkflowExecution | undefined> {
  try {
    return await kube.get(workflowExecutions, ref, { signal });
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** The present state of an execution that was there. Undefined when no answer came and another attempt makes sense. */
export async function readAgain(
  deps: Pick<FollowDeps, 'kube'>,
  seen: WorkflowExecution,
  signal: AbortSignal,
): Promise<WorkflowExecution | undefined> {
  const { namespace, name } = seen.metadata;
  try {
    const latest = await read(deps, { namespace, name }, signal);
    if (latest !== undefined) assertSame(seen, latest);
    return latest;
  } catch (error) {
    if (isRetryable(error)) return undefined;
    if (isAbsent(error)) throw deleted(seen);
    throw error;
  }
}

async function* changesAfter(
  { kube, clock }: FollowDeps,
  from: WorkflowExecution,
  signal: AbortSignal,
): AsyncGenerator<WorkflowExecution, void> {
  const { name, namespace, resourceVersion } = from.metadata;
  const silence = new AbortController();
  void clock.sleep(silenceMs, AbortSignal.any([signal, silence.signal])).then(() => silence.abort());
  try {
    const events = kube.watch(workflowExecutions, {
      namespace,
      fieldSelector: `metadata.name=${name}`,
      resourceVersion,
      timeoutSeconds: watchSeconds,
      signal: AbortSignal.any([signal, silence.signal]),
    });
    for await (const event of events) {
      if (event.type === 'ERROR') return;
      if (event.type === 'BOOKMARK') continue;
      assertSame(from, event.object);
      if (event.type === 'DELETED') throw deleted(from);
      yield event.object;
    }
  } catch (error) {
    if (
      error instanceof ExecutionError ||
      (error instanceof KubeError && !isRetryable(error) && error.status !== 410)
    ) {
      throw error;
    }
  } finally {
    silence.abort();
  }
}

function assertSame(seen: WorkflowExecution, latest: WorkflowExecution): void {
  if (seen.metadata.uid !== latest.metadata.uid) throw deleted(latest);
}
