import { globalNamespace } from '../../crds/labels.ts';
import type { Agent } from '../../crds/schema/agent.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { EdgeGroup } from '../../crds/schema/edge-group.ts';
import type { EdgeHost } from '../../crds/schema/edge-host.ts';
import type { FleetRun } from '../../crds/schema/fleet-run.ts';
import type { Clock } from '../../lib/clock.ts';
import { type Informer, readInTurn, type ReflectorDeps } from '../../lib/informer/index.ts';
import { agentExecutions, agents, edgeGroups, edgeHosts, fleetRuns } from '../../lib/kinds.ts';
import type { KubeClient, KubeObject } from '../../lib/kube/index.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import { createTenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import { type AgentAsks, createAgentAsks } from './agent-asks.ts';
import { createExecutionFeed, type ExecutionFeed } from './execution-feed.ts';
import { createExecutions, type Executions } from './executions.ts';
import { createInformers, type Informers } from './informers.ts';
import { createLineages, type Lineages } from './lineages.ts';
import { createTenantObjects, type TenantObjects } from './tenant-objects.ts';
import { createWorkflows, type Workflows } from './workflows.ts';

interface ClusterDeps {
  readonly kube: KubeClient;
  readonly clock: Clock;
  /** Gives each kind its own observer. */
  readonly reflector: (kind: string) => ReflectorDeps;
  /** Slug of the tenant whose namespace is that of the release (requirements AMB-025). */
  readonly systemTenant: string;
  readonly systemNamespace: string;
}

/** The API's view of the cluster, kept in step by watches. */
export interface Cluster {
  readonly informers: Informers;
  readonly tenants: TenantDirectory;
  readonly workflows: Workflows;
  readonly executions: Executions;
  readonly executionFeed: ExecutionFeed;
  readonly agents: TenantObjects<Agent>;
  readonly agentExecutions: TenantObjects<AgentExecution>;
  readonly agentAsks: AgentAsks;
  readonly lineages: Lineages;
  readonly edgeHosts: TenantObjects<EdgeHost>;
  readonly edgeGroups: TenantObjects<EdgeGroup>;
  readonly fleetRuns: TenantObjects<FleetRun>;
  /** Every cache holds its first complete list; before that nothing can be answered. */
  readonly hasSynced: boolean;
  /** Follows the server until `signal` aborts. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

export function createCluster({ kube, clock, reflector, systemTenant, systemNamespace }: ClusterDeps): Cluster {
  const executionFeed = createExecutionFeed(reflector('WorkflowExecution').logger);
  const informers = createInformers(reflector, kube, executionFeed);
  const all = Object.values(informers);
  const tenants = createTenantDirectory({ namespaces: informers.tenants.cache, systemTenant, systemNamespace });
  const objectsOf = <T extends KubeObject, I extends string>(informer: Informer<T, I>) => ({
    kube,
    clock,
    tenants,
    cache: informer.cache,
    whole: readInTurn(informer),
    weight: informer.weight,
  });
  return {
    informers,
    tenants,
    workflows: createWorkflows(objectsOf(informers.workflows)),
    executionFeed,
    executions: createExecutions(objectsOf(informers.executions)),
    agents: createTenantObjects({ ...objectsOf(informers.agents), resource: agents, shared: globalNamespace }),
    lineages: createLineages({
      agentExecutions: informers.agentExecutions.cache,
      executions: informers.executions.cache,
    }),
    agentExecutions: createTenantObjects({ ...objectsOf(informers.agentExecutions), resource: agentExecutions }),
    agentAsks: createAgentAsks(objectsOf(informers.agentExecutions)),
    edgeHosts: createTenantObjects({ ...objectsOf(informers.edgeHosts), resource: edgeHosts }),
    edgeGroups: createTenantObjects({ ...objectsOf(informers.edgeGroups), resource: edgeGroups }),
    fleetRuns: createTenantObjects({ ...objectsOf(informers.fleetRuns), resource: fleetRuns }),
    get hasSynced() {
      return all.every(({ hasSynced }) => hasSynced);
    },
    async run(signal) {
      await Promise.all(all.map((informer) => informer.run(signal)));
    },
  };
}
