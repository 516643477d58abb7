import { LRUCache } from 'lru-cache';
import { limits } from '../../crds/limits.ts';
import type { StimulusRouter } from '../../crds/schema/stimulus-router.ts';
import type { Clock } from '../../lib/clock.ts';
import { AppError } from '../../lib/errors.ts';
import type { CacheReader } from '../../lib/informer/index.ts';
import type { ServerReads } from '../../lib/server-reads.ts';
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
  readonly clock: Pick<Clock, 'steadyMs'>;
  readonly routers: Pick<CacheReader<StimulusRouter, 'namespace' | 'source'>, 'byIndex'>;
  /** A router as the server has it now, which the cache takes; undefined where it is gone. */
  readonly current: ServerReads<StimulusRouter>;
  readonly tenants: TenantDirectory;
  readonly systemTenant: string;
  /** Runs the search again once the cache is in step with the server; an empty namespace means all of them. */
  readonly catchUp: <T>(namespace: string, probe: () => T | undefined) => Promise<T | undefined>;
}

/**
 * Where nothing at all is known of a source the server is asked, so that a route of a moment ago counts. The claim of a webhook is read
 * again: a cache that is behind would give what one tenant is sent to the tenant that had the source before.
 */
export function createRoutingTable(whole: RoutingTableDeps): RoutingTable {
  const confirmed = createConfirmed(whole.clock);
  return {
    async find(source, tenant) {
      const deps = tenant === undefined ? await withPresentClaim(whole, confirmed, source) : whole;
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
    tenantOf: (source) => claimingTenant(whole, source),
  };
}

/** Claims that are read for one webhook: each read but the last has found that the cache was behind. */
const readsMost = 5;

/** For so long a version of a router that the server had counts as its newest: a read for each webhook would double its cost. */
const confirmedMs = 1_000;

/** Versions of routers, by uid, that the server had a moment ago. */
type Confirmed = Pick<LRUCache<string, string>, 'get' | 'set'>;

function createConfirmed(clock: Pick<Clock, 'steadyMs'>): Confirmed {
  return new LRUCache({ max: 2_000, ttl: confirmedMs, ttlResolution: 0, perf: { now: () => clock.steadyMs() } });
}

/** The table once the cache has the router that claims the source as the server has it, and without those that are gone. */
async function withPresentClaim(
  whole: RoutingTableDeps,
  confirmed: Confirmed,
  source: string,
): Promise<RoutingTableDeps> {
  const gone = new Set<string | undefined>();
  const isLeft = ({ metadata }: StimulusRouter): boolean => !gone.has(metadata.uid);
  const routers = {
    byIndex: (...key: Parameters<typeof whole.routers.byIndex>) => whole.routers.byIndex(...key).filter(isLeft),
  };
  const deps = { ...whole, routers };
  for (let reads = 0; reads < readsMost; reads += 1) {
    const claimant = claimantIn(deps, source);
    if (claimant === undefined) return deps;
    const { uid = '', resourceVersion = '' } = claimant.metadata;
    if (confirmed.get(uid) === resourceVersion) return deps;
    const now = await deps.current(claimant.metadata);
    if (now?.metadata.uid !== uid) gone.add(uid);
    else confirmed.set(uid, now.metadata.resourceVersion ?? '');
  }
  throw new AppError('unavailable', `the routes of '${source}' change too fast`, { reason: 'RoutesChange' });
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
function claimingTenant(deps: RoutingTableDeps, source: string): string {
  const { tenants, systemTenant } = deps;
  const assignee = tenants.assigneeOf(source);
  const assigned = assignee === undefined ? undefined : tenants.tenantOf(assignee);
  if (assigned !== undefined) return assigned;
  const owner = claimantIn(deps, source);
  return (owner === undefined ? undefined : tenants.tenantOf(owner.metadata.namespace ?? '')) ?? systemTenant;
}

function claimantIn({ routers, tenants }: RoutingTableDeps, source: string): StimulusRouter | undefined {
  const isOfTenant = ({ metadata }: StimulusRouter): boolean =>
    tenants.tenantOf(metadata.namespace ?? '') !== undefined;
  return claimantOf(source, routers.byIndex('source', sourceKey(source)).filter(isOfTenant));
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
