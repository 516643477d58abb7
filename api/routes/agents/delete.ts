import type { AuditTrail } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defineRoute, HttpError, json, type Route } from '../../../lib/http/index.ts';
import { type Caller, requireOperator } from '../../../lib/identity/index.ts';
import { agents as agentKind } from '../../../lib/kinds.ts';
import { isConflict, type KubeClient } from '../../../lib/kube/index.ts';
import type { Cluster } from '../../cluster/index.ts';
import { stillHeld } from '../being-deleted.ts';
import { notFound, unknownAgent } from '../not-found.ts';
import { deleteAgent } from './contract.ts';
import { isGlobal } from './present.ts';

interface DeleteDeps {
  readonly kube: Pick<KubeClient, 'delete'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly cluster: Pick<Cluster, 'agents'>;
  readonly audit: AuditTrail;
}

export function createDeleteRoute({ kube, clock, cluster, audit }: DeleteDeps): Route<Caller> {
  return defineRoute<typeof deleteAgent, Caller>(deleteAgent, async ({ params, caller }) => {
    const agent = await cluster.agents.locate(caller.tenant, params.agent);
    if (agent === undefined) throw notFound(unknownAgent);
    if (isGlobal(agent)) requireOperator(caller);
    const { namespace, name, uid = '' } = agent.metadata;
    const isDeleted = await kube.delete(agentKind, { namespace, name }, { uid }).catch(asRace);
    if (!isDeleted) throw notFound(unknownAgent);
    await cluster.agents.forgotten(uid);
    const data = { agent: name, scope: isGlobal(agent) ? 'global' : 'tenant' };
    audit.record({ type: 'AgentDeleted', by: caller, subject: uid, data });
    return json({ agent_id: uid, name, deleted_at: new Date(clock.now()).toISOString(), ...stillHeld(agent) });
  });
}

/** The agent was deleted by another caller, and one of its name was registered since. */
function asRace(error: unknown): never {
  if (!isConflict(error)) throw error;
  const message = 'another agent of that name was registered meanwhile';
  throw new HttpError({ code: 'conflict', message, cause: error });
}
