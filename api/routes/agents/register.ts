import { globalNamespace } from '../../../crds/labels.ts';
import { movedAgentFields } from '../../../crds/schema/agent-manifest.ts';
import type { Agent } from '../../../crds/schema/agent.ts';
import type { AuditTrail } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { defineRoute, json, type Route } from '../../../lib/http/index.ts';
import { type Caller, requireFleetScope, requireOperator } from '../../../lib/identity/index.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import type { ManifestReader } from '../../../lib/manifest/index.ts';
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
  readonly cluster: Pick<Cluster, 'tenants' | 'agents'>;
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
    const { agent, warnings } = await readAgentBody(manifests, body, caller.tenant);
    if (namesFleetTools(agent.spec.tools)) requireFleetScope(caller, 'spec.tools: an agent with tools of hosts');
    const { kind, object } = await write(agent, { namespace, force });
    const identity = presentIdentity(cluster.tenants, object);
    const { version } = object.spec;
    const data = { agent: identity.name, version, scope };
    const doneAt = kind === 'unchanged' ? writtenAt(object) : undefined;
    const subject = identity.agent_id;
    audit.record({ type: 'AgentRegistered', by: caller, subject, act: contentId(object), doneAt, data });
    return json({ ...identity, version, registration: kind, ...(warnings.length > 0 && { warnings }) });
  });
}
