import { globalNamespace } from '../../../crds/labels.ts';
import type { Problem } from '../../../crds/problem.ts';
import { movedAgentFields } from '../../../crds/schema/agent-manifest.ts';
import type { Agent } from '../../../crds/schema/agent.ts';
import { agentWarnings } from '../../../lib/agent/agent-warnings.ts';
import { judgeNameOf } from '../../../lib/agent/judge-name.ts';
import type { AuditTrail } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defineRoute, json, type Route } from '../../../lib/http/index.ts';
import { type Caller, requireFleetScope, requireOperator } from '../../../lib/identity/index.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import type { ManifestReader } from '../../../lib/manifest/index.ts';
import type { NodeConfig } from '../../../lib/node-config/index.ts';
import { registerAgent as register } from '../../../lib/registration/index.ts';
import type { Cluster } from '../../cluster/index.ts';
import { notFound, unknownTenant } from '../not-found.ts';
import { namesFleetTools } from '../../../lib/tools/fleet-rights.ts';
import { asRefusal } from '../workflows/kube-refusal.ts';
import { readAgentBody } from '../workflows/read-body.ts';
import { contentId, writtenAt } from '../workflows/register.ts';
import { createDefinitionWriter } from '../workflows/writer.ts';
import { registerAgent } from './contract.ts';
import { presentIdentity } from './present.ts';

export interface RegisterAgentDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  readonly cluster: Pick<Cluster, 'tenants' | 'agents' | 'informers'>;
  readonly nodeConfig: NodeConfig;
  readonly audit: AuditTrail;
  readonly manifests: ManifestReader;
}

export function createRegisterRoute(deps: RegisterAgentDeps): Route<Caller> {
  const { cluster, audit, manifests } = deps;
  const write = createDefinitionWriter<Agent>({
    ...deps,
    register,
    remember: (agent) => cluster.agents.remember(agent),
    asRefusal: (error) => asRefusal(error, movedAgentFields),
  });
  return defineRoute<typeof registerAgent, Caller>(registerAgent, async ({ body, query: { scope, force }, caller }) => {
    if (scope === 'global') requireOperator(caller);
    const namespace = scope === 'global' ? globalNamespace : cluster.tenants.namespaceOf(caller.tenant);
    if (namespace === undefined) throw notFound(unknownTenant);
    const { agent, warnings: own } = await readAgentBody(manifests, body, caller.tenant);
    if (namesFleetTools(agent.spec.tools)) requireFleetScope(caller, 'spec.tools: an agent with tools of hosts');
    const { kind, object } = await write(agent, { namespace, force });
    const around = await warningsAround(deps, { ...agent, metadata: { ...agent.metadata, namespace } }, caller);
    const warnings = [...own, ...around.map(({ path, message }) => ({ path, message }))];
    const identity = presentIdentity(cluster.tenants, object);
    const { version } = object.spec;
    const data = { agent: identity.name, version, scope };
    const doneAt = kind === 'unchanged' ? writtenAt(object) : undefined;
    const subject = identity.agent_id;
    audit.record({ type: 'AgentRegistered', by: caller, subject, act: contentId(object), doneAt, data });
    return json({ ...identity, version, registration: kind, ...(warnings.length > 0 && { warnings }) });
  });
}

/** Another replica may have registered the judge a moment ago: the server is asked for it, and fills the cache. */
async function warningsAround(
  { cluster: { agents, informers }, nodeConfig }: RegisterAgentDeps,
  agent: Agent,
  { tenant }: Caller,
): Promise<readonly Problem[]> {
  const judge = judgeNameOf(agent.spec);
  // The agent is registered by now, and no failure of a look changes that.
  if (judge !== undefined) await Promise.allSettled([agents.locate(tenant, judge)]);
  return agentWarnings({ agents: informers.agents.cache, nodeConfig }, agent);
}
