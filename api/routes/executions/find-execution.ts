import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { Executions, Reserve } from '../../cluster/index.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { notFound, unknownExecution } from '../not-found.ts';

/** The execution of the caller's tenant, in full. Throws 404, and what `reserve` throws. */
export async function findExecution(
  executions: Pick<Executions, 'find'>,
  { tenant }: Caller,
  id: string,
  reserve?: Reserve,
): Promise<WorkflowExecution> {
  const found = await executions.find(tenant, id, reserve);
  if (found === undefined) throw notFound(unknownExecution);
  return found;
}
