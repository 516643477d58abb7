import type { EdgeGroup } from '../../../../crds/schema/edge-group.ts';
import type { EdgeHost } from '../../../../crds/schema/edge-host.ts';
import { isUid, uidPattern } from '../../../../crds/uid.ts';
import { isWholeEdgeGroup } from '../../../../lib/edge/slim-edge-group.ts';
import { fleetHostOf, fleetHostsOf } from '../../../../lib/fleet/fleet-host.ts';
import { createMemberCounter, type FleetHost } from '../../../../lib/fleet/selector.ts';
import { defineRoute, json, type Route } from '../../../../lib/http/index.ts';
import { createListCursor, pageOf } from '../../../../lib/http/paging.ts';
import { pageBytes, readPage } from '../../../../lib/http/read-page.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import { createLoopTurns } from '../../../../lib/loop-turns.ts';
import type { Cluster } from '../../../cluster/index.ts';
import { notFound } from '../../not-found.ts';
import { edgeCaller } from '../edge-caller.ts';
import { unknownGroup } from '../errors.ts';
import { listEdgeGroups, readEdgeGroup } from './contract.ts';
import { presentGroup, presentGroupSummary } from './present.ts';

interface ReadGroupDeps {
  readonly cluster: Pick<Cluster, 'edgeHosts' | 'edgeGroups'>;
}

/** The hosts of a tenant as groups see them. */
export const hostsOf = ({ cluster }: Pick<ReadGroupDeps, 'cluster'>, tenant: string): Iterable<FleetHost> =>
  fleetHostsOf(cluster.edgeHosts.list(tenant));

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

/** spec 2 §4.4, requirements EDGE-REST-22. */
export function createListRoute(deps: ReadGroupDeps): Route<Caller> {
  const { edgeGroups, edgeHosts } = deps.cluster;
  return defineRoute<typeof listEdgeGroups, Caller>(listEdgeGroups, async (request) => {
    const { query } = request;
    const { tenant } = edgeCaller(request.caller, 'svc.edge.hosts.read', 'svc.edge.groups.write');
    const page = { limit: query.limit, after: groupCursor.decode(query.cursor) };
    const { rows, next } = pageOf(edgeGroups.list(tenant), { keyOf: placeOf, compare: byName }, page);
    // Those that the cache does not have in full are read anew.
    if (!rows.every(isWholeEdgeGroup)) await request.reserve(pageBytes);
    const { items: groups, cutAfter } = await readPage(rows, async (group) => edgeGroups.whole(group));
    const counts = await countMembers(groups, edgeHosts.list(tenant));
    const last = cutAfter === undefined ? next : placeOf(cutAfter);
    return json({
      items: groups.map((group, at) => presentGroupSummary(group, counts[at] ?? 0)),
      next_cursor: last === undefined ? null : groupCursor.encode(last),
    });
  });
}

/** Many groups over many hosts take long; other requests are served in between. */
async function countMembers(groups: readonly EdgeGroup[], hosts: readonly EdgeHost[]): Promise<readonly number[]> {
  const counter = createMemberCounter(groups.map(({ spec }) => spec));
  const spend = createLoopTurns(workPerTurn);
  for (const host of hosts) await spend(counter.add(fleetHostOf(host)));
  return counter.counts;
}

/** Names looked up: some milliseconds. */
const workPerTurn = 50_000;

/** The place of a group in the list. Names need not be unique. */
interface Place {
  readonly name: string;
  readonly id: string;
}

const placeOf = ({ spec: { name }, metadata: { uid: id = '' } }: EdgeGroup): Place => ({ name, id });

function byName(a: Place, b: Place): number {
  if (a.name !== b.name) return a.name < b.name ? -1 : 1;
  return a.id === b.id ? 0 : a.id < b.id ? -1 : 1;
}

const placeText = new RegExp(`^(${uidPattern.slice(1, -1)})/(.+)$`, 's');

const groupCursor = createListCursor<Place>(
  'groups',
  ({ id, name }) => `${id}/${name}`,
  (text) => {
    const [, id, name] = placeText.exec(text) ?? [];
    return id === undefined || name === undefined ? undefined : { id, name };
  },
);

/** spec 2 §4.4, requirements EDGE-REST-24. */
export function createReadRoute(deps: ReadGroupDeps): Route<Caller> {
  return defineRoute<typeof readEdgeGroup, Caller>(readEdgeGroup, async (request) => {
    const caller = edgeCaller(request.caller, 'svc.edge.hosts.read', 'svc.edge.groups.write');
    const { edgeGroups } = deps.cluster;
    const reserve = (bytes: number): Promise<void> => request.reserve(bytes);
    const locate = (tenant: string, id: string) => edgeGroups.find(tenant, id, reserve);
    const group = await locateGroup({ locate }, caller, request.params.id);
    return json(await presentGroup(group, hostsOf(deps, caller.tenant)));
  });
}
