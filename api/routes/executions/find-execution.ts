import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { Executions } from '../../cluster/index.ts';
import type { Caller } from '../../identity/caller.ts';
import { notFound, unknownExecution } from '../not-found.ts';

/** The execution of the caller's tenant. Throws 404. */
export async function findExecution(
  executions: Pick<Executions, 'find'>,
  { tenant }: Caller,
  id: string,
): Promise<WorkflowExecution> {
  const found = await executions.find(tenant, id);
  if (found === undefined) throw notFound(unknownExecution);
  return found;
}
