import { limits } from '../../crds/limits.ts';
import { isUid } from '../../crds/uid.ts';
import { allPages } from '../backends/http/all-pages.ts';
import type { EdgeBackend } from '../backends/backend.ts';
import { CliError } from '../exit-codes.ts';
import type { ListEdgeGroupsReply, ListEdgeHostsReply, ListEdgeHostsRequest } from '../../client/index.ts';

export type EdgeHostRow = ListEdgeHostsReply['items'][number];
export type EdgeGroupRow = ListEdgeGroupsReply['items'][number];

/** All hosts of the tenant that fit the filters. */
export function hostsOf(edge: EdgeBackend, filter: Pick<ListEdgeHostsRequest, 'tag' | 'label' | 'connected'> = {}) {
  return allPages<EdgeHostRow>(async (cursor) => {
    const page = await edge.listEdgeHosts({ ...filter, cursor, limit: limits.pageSizeMax });
    return { rows: page.items, next: page.next_cursor };
  });
}

/** All groups of the tenant, by name. A server of an earlier version has no pages. */
export function groupsOf(edge: EdgeBackend) {
  return allPages<EdgeGroupRow>(async (cursor) => {
    const page = await edge.listEdgeGroups({ cursor });
    return { rows: page.items, next: page.next_cursor };
  });
}

/**
 * A courtesy for people: display names of these hosts, by id. Those are absent that the tenant has not, and all where the caller may
 * not read hosts, or they cannot be read now.
 */
export async function hostNames(edge: EdgeBackend, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = ids.length === 0 ? [] : await hostsOf(edge).catch(() => []);
  const wanted = new Set(ids);
  return new Map(rows.flatMap(({ node_id: id, name }) => (wanted.has(id) ? [[id, name] as const] : [])));
}

/** The id of a host that is named by its id or by its display name. Display names need not be unique. */
export async function hostIdOf(edge: EdgeBackend, nameOrId: string): Promise<string> {
  if (isUid(nameOrId)) return nameOrId;
  const found = (await hostsOf(edge)).filter(({ name, node_id: id }) => name === nameOrId || id === nameOrId);
  return oneOf(
    'host',
    nameOrId,
    found.map(({ node_id: id }) => id),
  );
}

/** The id of a group that is named by its id or by its display name. */
export async function groupIdOf(edge: EdgeBackend, nameOrId: string): Promise<string> {
  if (isUid(nameOrId)) return nameOrId;
  const groups = await groupsOf(edge);
  return oneOf(
    'group',
    nameOrId,
    groups.filter(({ name }) => name === nameOrId).map(({ id }) => id),
  );
}

function oneOf(what: 'host' | 'group', name: string, ids: readonly string[]): string {
  const [id, ...others] = ids;
  const list = `List them: windlass edge ${what}s`;
  if (id === undefined) throw new CliError('not_found', `no ${what} is named '${name}'`, list);
  if (others.length === 0) return id;
  throw new CliError('usage', `${ids.length} ${what}s are named '${name}'`, `Name it by its id. ${list}`, ids);
}
