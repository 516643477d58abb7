import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { newest } from '../../../lib/decision/update-execution.ts';
import { ExecutionError } from '../../../lib/execution/execution-error.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import { notFound, unknownExecution } from '../not-found.ts';

/**
 * Acts on an execution of the cache. An act that the cache forbids is tried once more on the server's version of the
 * execution. A client may have heard from another replica what this one has not seen yet. Throws 404 when it was
 * deleted.
 */
export async function onLatest<T>(
  kube: Pick<KubeClient, 'get'>,
  known: WorkflowExecution,
  act: (execution: WorkflowExecution) => Promise<T>,
): Promise<T> {
  try {
    return await act(known).catch(async (error: unknown) => {
      if (!(error instanceof ExecutionError)) throw error;
      return act(await newest(kube, known));
    });
  } catch (error) {
    if (error instanceof ExecutionError && error.reason === 'Deleted') throw notFound(unknownExecution);
    throw error;
  }
}
