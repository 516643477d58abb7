import type { Volume } from '../../../crds/schema/volume.ts';
import type { AuditTrail } from '../../../lib/bus/index.ts';
import type { Contract } from '../../../lib/http/contract.ts';
import { defineRoute, json, type Route } from '../../../lib/http/index.ts';
import { volumes } from '../../../lib/kinds.ts';
import {
  findWanted,
  isConflict,
  isGone,
  type KubeClient,
  type KubeObject,
  listPages,
} from '../../../lib/kube/index.ts';
import type { TenantDirectory } from '../../../lib/tenant/tenant-directory.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { notFound } from '../not-found.ts';
import { pageOf, type TimeKey, createTimeCursor } from '../../../lib/http/paging.ts';
import { deleteVolume, listVolumes, readVolume, unknownVolume, type VolumeView } from './contract.ts';
import { presentVolume } from './present.ts';

const timeCursor = createTimeCursor('volumes');

export const contracts: readonly Contract[] = [listVolumes, readVolume, deleteVolume];

export interface VolumeRoutesDeps {
  readonly kube: Pick<KubeClient, 'get' | 'list' | 'delete'>;
  readonly tenants: Pick<TenantDirectory, 'namespaceOf'>;
  readonly audit: AuditTrail;
}

/** The volumes of the caller's tenant (requirements AMB-188), as the server has them: they are few and seldom asked for. */
export function createVolumeRoutes(deps: VolumeRoutesDeps): Route<Caller>[] {
  return [
    defineRoute<typeof listVolumes, Caller>(listVolumes, async ({ query, caller }) => {
      const after = timeCursor.decode(query.cursor);
      const { rows, next } = pageOf(await viewsOf(deps, caller), newestFirst, { limit: query.limit, after });
      return json({
        volumes: [...rows],
        next_cursor: next === undefined ? null : timeCursor.encode(next),
      });
    }),
    defineRoute<typeof readVolume, Caller>(readVolume, async ({ params, caller }) =>
      json(presentVolume(await find(deps, caller, params.volume_id))),
    ),
    defineRoute<typeof deleteVolume, Caller>(deleteVolume, async ({ params, caller }) => {
      await remove(deps, caller, await find(deps, caller, params.volume_id));
      return json({ status: 'deleted' });
    }),
  ];
}

const newestFirst = {
  keyOf: ({ created_at: at, volume_id: id }: VolumeView): TimeKey => ({ at, id }),
  compare: (a: TimeKey, b: TimeKey): number => b.at.localeCompare(a.at) || b.id.localeCompare(a.id),
};

async function viewsOf({ kube, tenants }: VolumeRoutesDeps, { tenant }: Caller): Promise<readonly VolumeView[]> {
  const namespace = tenants.namespaceOf(tenant);
  if (namespace === undefined) return [];
  try {
    return await readViews(kube, namespace);
  } catch (error) {
    // The list took longer than the server keeps its version.
    if (!isGone(error)) throw error;
    return readViews(kube, namespace);
  }
}

/** Keeps only the parts of each page that callers see: tenants write annotations and labels of any size. */
async function readViews(kube: VolumeRoutesDeps['kube'], namespace: string): Promise<VolumeView[]> {
  const views: VolumeView[] = [];
  for await (const { items } of listPages((paged) => kube.list(volumes, paged), { namespace })) {
    views.push(...items.map(presentVolume));
  }
  return views;
}

/** @throws HttpError 404 also for a volume of another tenant. */
async function find(deps: VolumeRoutesDeps, caller: Caller, idOrName: string): Promise<Volume> {
  const namespace = deps.tenants.namespaceOf(caller.tenant);
  if (namespace === undefined) throw notFound(unknownVolume);
  const isWanted = ({ metadata: { uid, name } }: KubeObject): boolean => uid === idOrName || name === idOrName;
  const known = await findWanted(deps.kube, volumes, { namespace, isWanted });
  const found = known.find(({ metadata }) => metadata.uid === idOrName) ?? known[0];
  if (found === undefined) throw notFound(unknownVolume);
  return found;
}

async function remove({ kube, audit }: VolumeRoutesDeps, caller: Caller, { metadata }: Volume): Promise<void> {
  const { name, namespace = '', uid = '' } = metadata;
  try {
    await kube.delete(volumes, { name, namespace }, { uid, propagation: 'Background' });
  } catch (error) {
    // Another one has its name by now.
    if (isConflict(error)) throw notFound(unknownVolume, { cause: error });
    throw error;
  }
  audit.record({ type: 'VolumeDeleted', by: caller, subject: uid, act: 'delete', data: { volume: name } });
}
