import type { EdgeGroup } from '../../../crds/schema/edge-group.ts';
import { type EdgeHost, edgeHostName } from '../../../crds/schema/edge-host.ts';
import type { FleetRun } from '../../../crds/schema/fleet-run.ts';
import { unlessBeingDeleted } from '../../../lib/being-deleted.ts';
import { fleetHostOf } from '../../../lib/fleet/fleet-host.ts';
import type { FleetHost } from '../../../lib/fleet/selector.ts';
import type { CacheReader } from '../../../lib/informer/index.ts';
import { edgeGroups, edgeHosts } from '../../../lib/kinds.ts';
import { findAgain, findWanted, type KubeClient, listPages } from '../../../lib/kube/index.ts';
import { createSharedReads } from '../../../lib/shared-reads.ts';
import type { ServerReads } from '../../../lib/server-reads.ts';
import type { Surroundings } from './fix-targets.ts';

type ListHosts = (namespace: string) => Promise<readonly FleetHost[]>;

export interface AskSurroundingsDeps {
  readonly kube: Pick<KubeClient, 'get' | 'list'>;
  readonly groups: { readonly cache: Pick<CacheReader<EdgeGroup>, 'getByUid'> };
  readonly readHost: ServerReads<EdgeHost>;
  readonly listHosts: ListHosts;
}

/**
 * Hosts and group of a run as the API server has them, for no run may end, or leave out a host, because caches are behind
 * (ADR 0156). One host is read by its name.
 */
export async function askSurroundings(
  deps: AskSurroundingsDeps,
  { metadata: { namespace = '' }, spec: { target } }: FleetRun,
): Promise<Pick<Surroundings, 'hosts' | 'group'>> {
  if (target.Node !== undefined) {
    const host = await deps.readHost({ namespace, name: edgeHostName(target.Node) });
    return { hosts: [host].filter(hasSpec).map(fleetHostOf), group: undefined };
  }
  const group = target.Group === undefined ? undefined : await askGroup(deps, namespace, target.Group);
  // Without its group a run is refused, whichever hosts there are.
  const hosts = target.Group === undefined || group !== undefined ? await deps.listHosts(namespace) : [];
  return { hosts, group };
}

async function askGroup(
  { kube, groups: { cache } }: Pick<AskSurroundingsDeps, 'kube' | 'groups'>,
  namespace: string,
  wanted: string,
): Promise<EdgeGroup | undefined> {
  const known = cache.getByUid(wanted);
  if (known?.metadata.namespace === namespace) return unlessBeingDeleted(await findAgain(kube, edgeGroups, known));
  const [found] = await findWanted(kube, edgeGroups, {
    namespace,
    isWanted: ({ metadata: { uid } }) => uid === wanted,
  });
  return unlessBeingDeleted(found);
}

/** One that got past the API server without a spec is in no cache either. */
const hasSpec = (host: EdgeHost | undefined): host is EdgeHost => host?.spec !== undefined;

/** Lists the hosts of a namespace; any number of calls at one time makes two lists. */
export const createHostLists = (kube: Pick<KubeClient, 'list'>): ListHosts =>
  createSharedReads(async (namespace) => {
    const hosts: FleetHost[] = [];
    for await (const { items } of listPages((paged) => kube.list(edgeHosts, paged), { namespace })) {
      hosts.push(...items.filter(hasSpec).map(fleetHostOf));
    }
    return hosts;
  });
