import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { Executions, Reserve } from '../../cluster/index.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { notFound, unknownExecution } from '../not-found.ts';
import { isShown } from './is-shown.ts';

/** The execution of the caller's tenant, in full, where the caller sees it. Throws 404, and what `reserve` throws. */
export async function findExecution(
  executions: Pick<Executions, 'find'>,
  caller: Caller,
  id: string,
  reserve?: Reserve,
): Promise<WorkflowExecution> {
  const found = await executions.find(caller.tenant, id, reserve);
  if (found === undefined || !isShown(found, caller)) throw notFound(unknownExecution);
  return found;
}
