import { labels } from '../../crds/labels.ts';
import type { StimulusRouter } from '../../crds/schema/stimulus-router.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import { readyOf } from '../../crds/ready.ts';
import type { Agent } from '../../crds/schema/agent.ts';
import { cachedAgent } from '../../lib/agent/find-agent.ts';
import { isBeingDeleted } from '../../lib/being-deleted.ts';
import { cachedWorkflow, type WorkflowCache } from '../../lib/workflow-lookup/index.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { stimulusRouters } from '../../lib/kinds.ts';
import type { KubeClient, Namespace } from '../../lib/kube/index.ts';
import { sourceKey } from '../../lib/stimulus/source-claims.ts';
import { assigneeIn, type TenantIndex } from '../../lib/tenant/tenant-directory.ts';
import { writeStatus } from '../runtime/write-status.ts';
import { decideRouter, type RouterFacts, type RouteTarget } from './decide.ts';

interface StimulusRouterDeps {
  readonly kube: Pick<KubeClient, 'jsonPatchStatus'>;
  readonly clock: Clock;
  readonly routers: CacheReader<StimulusRouter, 'source'>;
  readonly workflows: WorkflowCache;
  readonly agents: Pick<CacheReader<Agent>, 'get' | 'getByUid'>;
  /** Namespaces with a tenant's label. */
  readonly tenants: CacheReader<Namespace, TenantIndex>;
  /** The namespace of the system tenant, which has no label. */
  readonly systemNamespace: string;
}

/** Says which sources a router gets, and whether each of its routes leads somewhere (requirements AMB-144). */
export function createStimulusRouterReconcile(deps: StimulusRouterDeps): (key: string) => Promise<void> {
  return async (key) => {
    const router = deps.routers.get(key);
    if (router === undefined || router.metadata.deletionTimestamp !== undefined) return;
    const status = decideRouter(observe(deps, router), deps.clock.now());
    await writeStatus({ kube: deps.kube, resource: stimulusRouters, cache: deps.routers }, router, status);
  };
}

function observe(deps: StimulusRouterDeps, router: StimulusRouter): RouterFacts {
  const { namespace = '' } = router.metadata;
  const sources = Object.keys(router.spec.routes ?? {});
  const rivals = new Set(sources.flatMap((source) => deps.routers.byIndex('source', sourceKey(source))));
  const assignees = sources.flatMap((source): [string, string][] => {
    const assignee = assigneeIn(deps.tenants, source);
    return assignee === undefined ? [] : [[source, assignee]];
  });
  const wanted = new Set(Object.values(router.spec.routes ?? {}));
  const { router_agent: agent } = router.spec;
  return {
    router,
    isTenant: isTenant(deps, namespace),
    rivals: [...rivals].filter(({ metadata }) => isTenant(deps, metadata.namespace ?? '')),
    assignees: new Map(assignees),
    targets: new Map([...wanted].map((name) => [name, target(deps, namespace, name)])),
    ...(agent === undefined ? {} : { agent: targetOf(cachedAgent(deps.agents, namespace, agent)) }),
  };
}

function isTenant({ tenants, systemNamespace }: StimulusRouterDeps, namespace: string): boolean {
  return namespace === systemNamespace || tenants.get(namespace)?.metadata.labels?.[labels.tenant] !== undefined;
}

const target = ({ workflows }: StimulusRouterDeps, namespace: string, wanted: string): RouteTarget =>
  targetOf(cachedWorkflow(workflows, { namespace, nameOrUid: wanted }));

function targetOf(definition: Agent | Workflow | undefined): RouteTarget {
  if (definition === undefined || isBeingDeleted(definition)) return 'absent';
  return readyOf(definition)?.status === 'True' ? 'accepted' : 'not_ready';
}
