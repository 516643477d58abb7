import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { Clock } from '../../../lib/clock.ts';
import { workflowExecutions } from '../../../lib/kinds.ts';
import type { KubeClient, ObjectRef } from '../../../lib/kube/index.ts';
import { isRetryable, KubeError } from '../../../lib/kube/kube-error.ts';
import { CliError } from '../../exit-codes.ts';

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
    const latest = await read(deps, ref, signal, seen !== undefined);
    if (latest !== undefined) {
      assertSame(seen, latest);
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

/** Undefined when no answer came and another attempt makes sense. */
async function read(
  { kube }: FollowDeps,
  ref: ObjectRef,
  signal: AbortSignal,
  again: boolean,
): Promise<WorkflowExecution | undefined> {
  try {
    return await kube.get(workflowExecutions, ref, { signal });
  } catch (error) {
    if (signal.aborted || (again && isRetryable(error))) return undefined;
    if (again && error instanceof KubeError && error.status === 404) throw deleted(ref.name);
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
      if (event.type === 'DELETED') throw deleted(name);
      yield event.object;
    }
  } catch (error) {
    if (error instanceof CliError || (error instanceof KubeError && !isRetryable(error) && error.status !== 410)) {
      throw error;
    }
  } finally {
    silence.abort();
  }
}

function assertSame(seen: WorkflowExecution | undefined, latest: WorkflowExecution): void {
  if (seen !== undefined && seen.metadata.uid !== latest.metadata.uid) throw deleted(latest.metadata.name);
}

function deleted(name: string): CliError {
  return new CliError('not_found', `execution ${name} was deleted`, 'List what there is: windlass list');
}
