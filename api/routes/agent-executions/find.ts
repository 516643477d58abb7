import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import type { TenantObjects } from '../../cluster/index.ts';
import { notFound, unknownExecution } from '../not-found.ts';

/** The execution of the caller's tenant without its texts. Throws 404. */
export async function locateExecution(
  executions: Pick<TenantObjects<AgentExecution>, 'locate'>,
  { tenant }: Pick<Caller, 'tenant'>,
  id: string,
): Promise<AgentExecution> {
  const found = await executions.locate(tenant, id);
  if (found === undefined) throw notFound(unknownExecution);
  return found;
}
