import { limits } from '../../crds/limits.ts';
import type { StimulusRouter } from '../../crds/schema/stimulus-router.ts';
import type { CacheReader } from '../../lib/informer/index.ts';
import { ownMember } from '../../lib/own-member.ts';
import { byAge, claimantOf, sourceKey, routerOfSource } from '../../lib/stimulus/source-claims.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import type { Routing } from './decide-route.ts';

/** Whose stimulus it is, and what that tenant's routers say about its source. */
export interface Destination {
  readonly tenant: string;
  /** Undefined where the tenant is not set up: it is an empty one. */
  readonly namespace: string | undefined;
  readonly routing: Routing;
}

export interface RoutingTable {
  /** The route of a stimulus of that source. Without a tenant: that of the source's claimant (AMB-144). */
  find(source: string, tenant?: string): Promise<Destination>;
  /** The tenant that claims a source, as far as is known now; the system tenant where none does. */
  tenantOf(source: string): string;
}

interface RoutingTableDeps {
  readonly routers: CacheReader<StimulusRouter, 'namespace' | 'source'>;
  readonly tenants: TenantDirectory;
  readonly systemTenant: string;
  /** Runs the search again once the cache is in step with the server; an empty namespace means all of them. */
  readonly catchUp: <T>(namespace: string, probe: () => T | undefined) => Promise<T | undefined>;
}

/** Only where nothing at all is known of a source the server is asked, so that a route of a moment ago counts. */
export function createRoutingTable(deps: RoutingTableDeps): RoutingTable {
  return {
    async find(source, tenant) {
      const known = destinationOf(deps, source, tenant);
      if (isKnown(known)) return known;
      const namespace = tenant === undefined ? '' : deps.tenants.namespaceOf(tenant);
      if (namespace === undefined) return known;
      const probe = (): Destination | undefined => {
        const found = destinationOf(deps, source, tenant);
        return isKnown(found) ? found : undefined;
      };
      return (await deps.catchUp(namespace, probe)) ?? known;
    },
    tenantOf: (source) => claimingTenant(deps, source),
  };
}

const isKnown = ({ routing }: Destination): boolean =>
  routing.workflow !== undefined || routing.routerAgent !== undefined;

function destinationOf(deps: RoutingTableDeps, source: string, wanted: string | undefined): Destination {
  const tenant = wanted ?? claimingTenant(deps, source);
  const namespace = deps.tenants.namespaceOf(tenant);
  const routers = namespace === undefined ? [] : deps.routers.byIndex('namespace', namespace);
  return { tenant, namespace, routing: routingOf(source, routers) };
}

/** An administrator's assignment counts before any claim. Routers outside of tenants claim nothing. */
function claimingTenant({ routers, tenants, systemTenant }: RoutingTableDeps, source: string): string {
  const assignee = tenants.assigneeOf(source);
  const assigned = assignee === undefined ? undefined : tenants.tenantOf(assignee);
  if (assigned !== undefined) return assigned;
  const tenantOf = ({ metadata }: StimulusRouter): string | undefined => tenants.tenantOf(metadata.namespace ?? '');
  const candidates = routers.byIndex('source', sourceKey(source)).filter((router) => tenantOf(router) !== undefined);
  const owner = claimantOf(source, candidates);
  return (owner === undefined ? undefined : tenantOf(owner)) ?? systemTenant;
}

/** One tenant may have several routers: a source has one of them, and the oldest with a router agent asks it. */
function routingOf(source: string, routers: readonly StimulusRouter[]): Routing {
  const workflow = ownMember(routerOfSource(source, routers)?.spec.routes, source);
  const asking = byAge(routers).find(({ spec }) => spec.router_agent !== undefined)?.spec;
  return {
    confidenceThreshold: asking?.confidence_threshold ?? limits.confidenceThresholdDefault,
    workflow,
    routerAgent: asking?.router_agent,
  };
}
