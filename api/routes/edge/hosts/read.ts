import type { EdgeHost } from '../../../../crds/schema/edge-host.ts';
import type { QueryOf } from '../../../../lib/http/contract.ts';
import { defineRoute, json, type Route } from '../../../../lib/http/index.ts';
import { createTimeCursor } from '../../../../lib/http/paging.ts';
import { readPage } from '../../../../lib/http/read-page.ts';
import { fleetHostOf, stateOfHost } from '../../../../lib/fleet/fleet-host.ts';
import { matchingHosts } from '../../../../lib/fleet/selector.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import type { Cluster } from '../../../cluster/index.ts';
import { timeKeyOf, newestPage } from '../../executions/list/page.ts';
import { edgeCaller } from '../edge-caller.ts';
import { listEdgeHosts, readEdgeHost } from './contract.ts';
import { locateHost } from './find-host.ts';
import { presentHostSummary } from './present.ts';
import { heardOf, type RecentDeps, viewOf } from './recent.ts';

const timeCursor = createTimeCursor('hosts');

type ReadDeps = RecentDeps & { readonly cluster: Pick<Cluster, 'edgeHosts'> };

/** spec 2 §4.3, requirements EDGE-REST-11 to EDGE-REST-16. */
export function createListRoute({
  cluster: { edgeHosts },
  clock,
  heartbeats,
}: Pick<ReadDeps, 'cluster' | 'clock' | 'heartbeats'>): Route<Caller> {
  return defineRoute<typeof listEdgeHosts, Caller>(listEdgeHosts, async ({ query, caller: asked }) => {
    const { tenant } = edgeCaller(asked, 'svc.edge.hosts.read');
    const page = { limit: query.limit, after: timeCursor.decode(query.cursor) };
    const wanted = await wantedOf(query, edgeHosts.list(tenant));
    const { rows, next } = await newestPage(wanted, page, (host) => isInState(host, query));
    const heard = await heardOf(heartbeats, rows);
    const now = clock.now();
    const { items, cutAfter } = await readPage(rows, async (host) =>
      presentHostSummary(tenant, host, { heard: heard.get(host.metadata.uid ?? ''), now }),
    );
    const last = cutAfter === undefined ? next : timeKeyOf(cutAfter);
    return json({ items: [...items], next_cursor: last === undefined ? null : timeCursor.encode(last) });
  });
}

/** `connected=false` is no filter (AMB-097). */
const isInState = (host: EdgeHost, { connected }: QueryOf<typeof listEdgeHosts>): boolean =>
  connected !== true || stateOfHost(host) === 'Connected';

/** Hosts with the tags and labels that a list is about, found in turns of the event loop. */
async function wantedOf(
  { tag, label = [] }: QueryOf<typeof listEdgeHosts>,
  hosts: readonly EdgeHost[],
): Promise<readonly EdgeHost[]> {
  if (tag === undefined && label.length === 0) return hosts;
  const labels = label.map((pair) => ({ Equals: Object.fromEntries([splitPair(pair)]) }));
  return matchingHosts(hosts, fleetHostOf, { labels, ...(tag !== undefined && { tags: [{ AllOf: tag }] }) });
}

/** The contract has seen to the equals sign. */
function splitPair(pair: string): [name: string, value: string] {
  const equals = pair.indexOf('=');
  return [pair.slice(0, equals), pair.slice(equals + 1)];
}

/** spec 2 §4.3. */
export function createReadRoute(deps: ReadDeps): Route<Caller> {
  return defineRoute<typeof readEdgeHost, Caller>(readEdgeHost, async ({ params, caller: asked }) => {
    const caller = edgeCaller(asked, 'svc.edge.hosts.read');
    return json(await viewOf(deps, caller.tenant, await locateHost(deps.cluster.edgeHosts, caller, params.id)));
  });
}
