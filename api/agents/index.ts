import { readFileSync } from 'node:fs';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import { createSessions, loadSealKey } from '../../lib/envelope/index.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import type { Route } from '../../lib/http/route.ts';
import type { Models } from '../../lib/models/models.ts';
import { createModels } from '../../lib/models/create-models.ts';
import type { Toolbox } from '../../lib/tools/tool.ts';
import type { ApiDeps } from '../api-deps.ts';
import type { Cluster } from '../cluster/index.ts';
import { createAgentPodRoutes } from '../routes/agent-pods/index.ts';
import { createAttestations } from './attestations.ts';
import { createDefinitions, type Definitions } from './definitions.ts';
import { createDrivers, type Drivers } from './drivers.ts';
import type { ConversationFeed } from './feed.ts';
import { createConversationFeed } from './live.ts';
import { createPodIdentity } from './pod-identity.ts';

interface AgentsDeps extends ApiDeps {
  readonly bus: EventBus;
  readonly cluster: Cluster;
  readonly toolbox: Toolbox;
}

/** Everything that runs agents in this process. */
export interface Agents {
  readonly feed: ConversationFeed;
  readonly drivers: Drivers;
  readonly models: Models;
  /** What the pods of agents ask for, on the internal listener. */
  routes<Caller>(): Route<Caller>[];
}

export function createAgents(deps: AgentsDeps): Agents {
  const { bus, clock, kube, logger, newId, nodeConfig, cluster, toolbox, metrics } = deps;
  const models = createModels({ clock, logger, random: Math.random, registry: metrics.registry }, nodeConfig);
  const definitions = createDefinitions(kube);
  const feed = createConversationFeed(bus, clock);
  const drivers = createDrivers({
    kube,
    bus,
    clock,
    logger,
    newId,
    models,
    toolbox,
    executions: cluster.informers.agentExecutions,
    tenants: cluster.tenants,
    definitionOf: (execution) => definitions.of(execution),
  });
  const podDeps = podRoutesDeps(deps, definitions);
  return { feed, drivers, models, routes: () => createAgentPodRoutes({ ...podDeps, drivers, feed }) };
}

function podRoutesDeps({ bus, clock, config, kube, logger, newId, cluster }: AgentsDeps, definitions: Definitions) {
  const key = loadSealKey(config, (path) => readFileSync(path, 'utf8'), logger);
  return {
    clock,
    executions: cluster.informers.agentExecutions,
    tenants: cluster.tenants,
    identity: createPodIdentity({ kube, clock }),
    attestations: createAttestations({ key, sessions: createSessions(bus), clock, newId }),
    async securityOf(execution: AgentExecution) {
      const { context, security } = await definitions.of(execution);
      return { name: context, tools: security.tools ?? ['*'] };
    },
    modelOf: async (execution: AgentExecution) => (await definitions.of(execution)).spec.runtime.model ?? 'default',
  };
}
