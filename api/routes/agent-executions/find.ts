import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import type { Reserve, TenantObjects } from '../../cluster/index.ts';
import { notFound, unknownExecution } from '../not-found.ts';

type Executions = Pick<TenantObjects<AgentExecution>, 'find' | 'locate'>;

/** The execution of the caller's tenant, in full. Throws 404, and what `reserve` throws. */
export async function findExecution(
  executions: Pick<Executions, 'find'>,
  { tenant }: Pick<Caller, 'tenant'>,
  id: string,
  reserve: Reserve,
): Promise<AgentExecution> {
  const found = await executions.find(tenant, id, reserve);
  if (found === undefined) throw notFound(unknownExecution);
  return found;
}

/** The same without its texts. */
export async function locateExecution(
  executions: Pick<Executions, 'locate'>,
  { tenant }: Pick<Caller, 'tenant'>,
  id: string,
): Promise<AgentExecution> {
  const found = await executions.locate(tenant, id);
  if (found === undefined) throw notFound(unknownExecution);
  return found;
}
