import type { Agent } from '../../../crds/schema/agent.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import type { Reserve, TenantObjects } from '../../cluster/index.ts';
import { notFound, unknownAgent } from '../not-found.ts';

/** The agent that the caller means by a name or id, in full. @throws HttpError 404, the same for one of another tenant. */
export async function findAgent(
  agents: Pick<TenantObjects<Agent>, 'find'>,
  { tenant }: Pick<Caller, 'tenant'>,
  nameOrUid: string,
  reserve?: Reserve,
): Promise<Agent> {
  const found = await agents.find(tenant, nameOrUid, reserve);
  if (found === undefined) throw notFound(unknownAgent);
  return found;
}
