import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import {
  createCallCounter,
  createEnvelopeProof,
  createProofPool,
  createVouch,
  createSealSessions,
  type SealKey,
  type SessionName,
  type SealSessions,
} from '../../lib/envelope/index.ts';
import { modelAliasOf } from '../../lib/agent/model-alias.ts';
import { withMounts } from '../../lib/agent/slim-agent-execution.ts';
import type { AuditTrail, EventBus } from '../../lib/bus/index.ts';
import type { Route } from '../../lib/http/route.ts';
import type { Models } from '../../lib/models/models.ts';
import { createModels } from '../../lib/models/create-models.ts';
import type { Toolbox } from '../../lib/tools/tool.ts';
import type { ApiDeps } from '../api-deps.ts';
import type { LeavingTimes } from '../leaving-times.ts';
import type { Cluster } from '../cluster/index.ts';
import { createAgentPodRoutes } from '../routes/agent-pods/index.ts';
import type { SealInvokeDeps } from '../routes/seal/invoke.ts';
import { createApprovals } from './verdicts/approvals.ts';
import { createAttestations } from './pods/attestations.ts';
import { callerOf } from './caller-of.ts';
import { createClaims } from './drivers/conversation-claims.ts';
import { createContainerCalls } from './pods/container-calls.ts';
import { createDefinitions, type Definitions } from './definitions.ts';
import { createDrivers, type Drivers } from './drivers/drivers.ts';
import { createJudgeAgents } from './verdicts/judge-agents.ts';
import { createEndSessions, type EndSessions } from './end-sessions.ts';
import type { ConversationFeed } from './conversation/feed.ts';
import { createConversationFeed } from './conversation/live.ts';
import { needsDriving } from './drivers/needs-driving.ts';
import { createPodIdentity } from './pods/pod-identity.ts';
import { createSignedAdmission, type SignedAdmission } from './calls/signed-admission.ts';
import type { RegisteredToolSource } from './registered/index.ts';

interface AgentsDeps extends ApiDeps {
  readonly sealKey: SealKey;
  readonly bus: EventBus;
  readonly cluster: Cluster;
  readonly registered: RegisteredToolSource;
  readonly toolbox: Toolbox;
  readonly audit: AuditTrail;
  readonly leaving: LeavingTimes;
}

/** Everything that runs agents in this process. */
export interface Agents {
  readonly feed: ConversationFeed;
  readonly drivers: Drivers;
  /** Ends the sessions of executions that have ended. */
  readonly endSessions: EndSessions;
  readonly models: Models;
  /** Lets signed calls in, where revocations of their sessions wait for them. */
  readonly admission: SignedAdmission;
  /** Dependencies of signed calls (spec 3 §5.2). */
  readonly seal: SealDeps;
  /** Operations for the pods of agents, on the internal listener. */
  routes<Caller>(): Route<Caller>[];
}

type SealDeps = Omit<SealInvokeDeps, 'audit' | 'clock' | 'rateLimit'> & {
  readonly key: SealKey;
};

export function createAgents(deps: AgentsDeps): Agents {
  const { bus, clock, kube, logger, newId, nodeConfig, cluster, toolbox, metrics } = deps;
  const models = createModels({ clock, logger, random: Math.random, registry: metrics.registry }, nodeConfig);
  const isKnown = (model: string): boolean => models.limitsOf(model) !== undefined;
  const definitions = createDefinitions({ kube, clock });
  const feed = createConversationFeed(bus, clock);
  const calls = createCallCounter(bus);
  const sessions = createSealSessions(bus, cluster.tenants);
  const parts = { bus, clock, logger, newId, sessions };
  const admission = createSignedAdmission(parts);
  const drivers = createDrivers({
    ...parts,
    random: Math.random,
    kube,
    models,
    toolbox,
    registered: deps.registered,
    calls,
    claims: createClaims({ ...deps, tenants: cluster.tenants, isKnown }),
    approvals: createApprovals({ kube, clock, executions: cluster.informers.agentExecutions }),
    judges: createJudgeAgents({ ...deps, ...cluster, executions: cluster.informers.agentExecutions }),
    executions: cluster.informers.agentExecutions,
    definitionOf: (execution, anew) => definitions.of(execution, anew),
    leaving: deps.leaving,
    admission,
  });
  const signed: Signed = { key: deps.sealKey, sessions, definitions };
  const podDeps = podRoutesDeps(deps, signed);
  const executions = cluster.informers.agentExecutions;
  const container = createContainerCalls({ bus, clock, newId, executions, drivers, feed });
  return {
    feed,
    drivers,
    endSessions: createEndSessions({ clock, logger, sessions, executions, tenants: cluster.tenants }),
    models,
    admission,
    seal: { ...sealDeps(deps, signed), admission, calls, container },
    routes: () => createAgentPodRoutes({ ...podDeps, drivers, feed }),
  };
}

interface Signed {
  readonly key: SealKey;
  readonly sessions: SealSessions;
  readonly definitions: Definitions;
}

/** A signed call has the rights of its execution, for as long as that runs. */
function sealDeps(
  { bus, clock, cluster, newId, toolbox }: AgentsDeps,
  { key, sessions, definitions }: Signed,
): Omit<SealDeps, 'admission' | 'calls' | 'container'> {
  const { cache, whole } = cluster.informers.agentExecutions;
  const proofs = createProofPool({ clock, key });
  return {
    key,
    proofs,
    toolbox,
    events: bus,
    newId,
    prove: createEnvelopeProof({ bus, clock, key, sessions }),
    vouch: createVouch({ clock, key, sessions, proofs }),
    async callerOf({ execution_id: executionId, tenant }: SessionName) {
      const execution = cache.getByUid(executionId);
      if (execution === undefined || !needsDriving(execution)) return undefined;
      // A session may name any execution; it has rights in its own tenant alone.
      if (cluster.tenants.tenantOf(execution.metadata.namespace ?? '') !== tenant) return undefined;
      const { spec, security } = await definitions.of(execution);
      const mounted = await withMounts(execution, whole);
      return mounted && callerOf(mounted, { tenant, spec, security });
    },
  };
}

function podRoutesDeps({ clock, kube, newId, cluster }: AgentsDeps, { key, sessions, definitions }: Signed) {
  return {
    clock,
    executions: cluster.informers.agentExecutions,
    tenants: cluster.tenants,
    identity: createPodIdentity({ kube, clock }),
    attestations: createAttestations({ key, sessions, clock, newId }),
    async securityOf(execution: AgentExecution) {
      const { context, security, spec } = await definitions.of(execution);
      return { name: context, tools: security.tools ?? ['*'], waiting: spec.approval?.tools ?? [] };
    },
    modelOf: async (execution: AgentExecution) => modelAliasOf((await definitions.of(execution)).spec),
  };
}
