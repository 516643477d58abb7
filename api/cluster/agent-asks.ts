import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CacheReader } from '../../lib/informer/index.ts';
import { agentExecutions } from '../../lib/kinds.ts';
import type { KubeClient } from '../../lib/kube/index.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import { createUnknownIds } from '../../lib/unknown-ids.ts';
import { createCatchUp } from './catch-up.ts';

/** Tool calls of a tenant's agents that wait for a person (ADR 0082). Executions come without their texts. */
export interface AgentAsks {
  /** The execution that asks for the decision of that id, or that was given it last, as far as the cache knows. */
  known(tenant: string, id: string): AgentExecution | undefined;
  /** The same; one that has asked a moment ago is found. */
  find(tenant: string, id: string): Promise<AgentExecution | undefined>;
  /** Every execution that asks. */
  list(tenant: string): readonly AgentExecution[];
}

interface AgentAsksDeps {
  readonly kube: Pick<KubeClient, 'get' | 'list'>;
  readonly clock: Clock;
  readonly cache: CacheReader<AgentExecution, 'namespace' | 'ask' | 'asking'>;
  readonly tenants: TenantDirectory;
}

/** A dropped search may be repeated later; this limits only a flood. */
const notAsked = { capacity: 10_000, lifeMs: 1_000 };

export function createAgentAsks(deps: AgentAsksDeps): AgentAsks {
  const { cache, clock, tenants } = deps;
  const catchUp = createCatchUp({ ...deps, resource: agentExecutions });
  const unknown = createUnknownIds(clock, notAsked);
  const known = (tenant: string, id: string): AgentExecution | undefined => {
    const namespace = tenants.namespaceOf(tenant);
    return cache.byIndex('ask', id).find(({ metadata }) => metadata.namespace === namespace);
  };
  return {
    known,
    async find(tenant, id) {
      const namespace = tenants.namespaceOf(tenant);
      const key = `${namespace}/${id}`;
      if (namespace === undefined || unknown.has(key)) return undefined;
      const found = await catchUp.find({ namespace, tenant: namespace }, () => known(tenant, id));
      if (found === undefined) unknown.add(key);
      return found;
    },
    list: (tenant) => cache.byIndex('asking', tenants.namespaceOf(tenant) ?? ''),
  };
}
