import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { deleted } from '../execution/execution-error.ts';
import { workflowExecutions } from '../kinds.ts';
import { findAgain } from '../kube/find-object.ts';
import type { KubeClient } from '../kube/index.ts';
import { isAbsent, isConflict, isInvalid } from '../kube/kube-error.ts';

export type ExecutionWriter = Pick<KubeClient, 'get' | 'mergePatch'>;

/** Status moves on while we write, which is a conflict and no loss; a handful of attempts outlasts it. */
const attempts = 20;

/**
 * Applies a change to the execution as it is now, again whenever another client wrote in between. `change` sees the
 * newest object each time and throws when the change makes no sense any more. Another execution that was created
 * under the same name meanwhile is left alone.
 */
export async function updateExecution(
  kube: ExecutionWriter,
  execution: WorkflowExecution,
  change: (latest: WorkflowExecution) => object | Promise<object>,
): Promise<WorkflowExecution> {
  let latest = execution;
  const { namespace, name } = execution.metadata;
  for (let attempt = 1; ; attempt++) {
    const { resourceVersion, uid } = latest.metadata;
    const patch = { metadata: { resourceVersion, uid }, spec: await change(latest) };
    try {
      return await kube.mergePatch(workflowExecutions, { namespace, name }, patch);
    } catch (error) {
      if (!raced(error) || attempt === attempts) throw error;
      const before = resourceVersion;
      latest = await newest(kube, execution);
      if (isInvalid(error) && latest.metadata.resourceVersion === before) throw error;
    }
  }
}

/** The execution as the server has it now. Throws a not-found error when it was deleted. */
export async function newest(kube: Pick<KubeClient, 'get'>, execution: WorkflowExecution): Promise<WorkflowExecution> {
  const found = await findAgain(kube, workflowExecutions, execution);
  if (found === undefined) throw deleted(execution);
  return found;
}

/** A merge patch on a stale object answers 409, on one that is gone 404; an append-only rule may answer 422 first. */
function raced(error: unknown): boolean {
  return isConflict(error) || isInvalid(error) || isAbsent(error);
}
