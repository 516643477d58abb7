import { setImmediate } from 'node:timers/promises';
import type { EdgeGroup } from '../../../../crds/schema/edge-group.ts';
import type { EdgeHost } from '../../../../crds/schema/edge-host.ts';
import { isUid } from '../../../../crds/uid.ts';
import { fleetHostOf } from '../../../../lib/fleet/fleet-host.ts';
import { createMemberCounter, type FleetHost } from '../../../../lib/fleet/selector.ts';
import { defineRoute, json, type Route } from '../../../../lib/http/index.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import type { Cluster } from '../../../cluster/index.ts';
import { notFound } from '../../not-found.ts';
import { edgeCaller } from '../edge-caller.ts';
import { unknownGroup } from '../errors.ts';
import { listEdgeGroups, readEdgeGroup } from './contract.ts';
import { presentGroup, presentGroupSummary } from './present.ts';

export interface ReadGroupDeps {
  readonly cluster: Pick<Cluster, 'edgeHosts' | 'edgeGroups'>;
}

/** The hosts of a tenant as groups see them. */
export const hostsOf = ({ cluster }: Pick<ReadGroupDeps, 'cluster'>, tenant: string): FleetHost[] =>
  cluster.edgeHosts.list(tenant).map(fleetHostOf);

/** A group of the caller's tenant by its id. @throws HttpError 404, the same for one of another tenant. */
export async function locateGroup(
  groups: Pick<Cluster['edgeGroups'], 'locate'>,
  { tenant }: Pick<Caller, 'tenant'>,
  id: string,
): Promise<EdgeGroup> {
  const uid = id.toLowerCase();
  const found = isUid(uid) ? await groups.locate(tenant, uid) : undefined;
  if (found === undefined) throw notFound(unknownGroup);
  return found;
}

/** spec 2 §4.4, requirements EDGE-REST-22. The quota of a tenant bounds its groups. */
export function createListRoute(deps: ReadGroupDeps): Route<Caller> {
  return defineRoute<typeof listEdgeGroups, Caller>(listEdgeGroups, async ({ caller: asked }) => {
    const { tenant } = edgeCaller(asked, 'svc.edge.hosts.read', 'svc.edge.groups.write');
    const groups = deps.cluster.edgeGroups.list(tenant).toSorted(byName);
    const counts = await countMembers(groups, deps.cluster.edgeHosts.list(tenant));
    return json({ items: groups.map((group, at) => presentGroupSummary(group, counts[at] ?? 0)) });
  });
}

/** Many groups over many hosts take long; other requests are served in between. */
async function countMembers(groups: readonly EdgeGroup[], hosts: readonly EdgeHost[]): Promise<readonly number[]> {
  const counter = createMemberCounter(groups.map(({ spec }) => spec));
  let work = 0;
  for (const host of hosts) {
    work += counter.add(fleetHostOf(host));
    if (work < workPerTurn) continue;
    work = 0;
    await setImmediate();
  }
  return counter.counts;
}

/** Names looked up: some milliseconds. */
const workPerTurn = 50_000;

function byName({ spec: a, metadata: left }: EdgeGroup, { spec: b, metadata: right }: EdgeGroup): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return (left.uid ?? '') < (right.uid ?? '') ? -1 : 1;
}

/** spec 2 §4.4, requirements EDGE-REST-24. */
export function createReadRoute(deps: ReadGroupDeps): Route<Caller> {
  return defineRoute<typeof readEdgeGroup, Caller>(readEdgeGroup, async ({ params, caller: asked }) => {
    const caller = edgeCaller(asked, 'svc.edge.hosts.read', 'svc.edge.groups.write');
    const group = await locateGroup(deps.cluster.edgeGroups, caller, params.id);
    return json(presentGroup(group, hostsOf(deps, caller.tenant)));
  });
}
