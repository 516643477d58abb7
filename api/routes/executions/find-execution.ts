import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import { HttpError } from '../../../lib/http/index.ts';
import type { Executions } from '../../cluster/index.ts';
import type { Caller } from '../../identity/caller.ts';

/** The same for an id that is malformed, unknown or another tenant's. */
export const executionNotFound = (): HttpError => new HttpError({ code: 'not_found', error: 'Execution not found' });

/** The execution of the caller's tenant. Throws 404. */
export async function findExecution(
  executions: Pick<Executions, 'find'>,
  { tenant }: Caller,
  id: string,
): Promise<WorkflowExecution> {
  const found = await executions.find(tenant, id);
  if (found === undefined) throw executionNotFound();
  return found;
}
