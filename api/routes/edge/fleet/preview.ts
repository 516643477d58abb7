import type { FleetTarget } from '../../../../crds/schema/fleet-run.ts';
import { isUid } from '../../../../crds/uid.ts';
import { unlessBeingDeleted } from '../../../../lib/being-deleted.ts';
import { hasReason } from '../../../../lib/errors.ts';
import { fleetHostsOf } from '../../../../lib/fleet/fleet-host.ts';
import { type ResolvedTarget, resolveTarget } from '../../../../lib/fleet/selector.ts';
import { defineRoute, json, type Route } from '../../../../lib/http/index.ts';
import { invalidField } from '../../../../lib/http/request-errors.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import { edgeCaller } from '../edge-caller.ts';
import { presentResolved } from '../groups/present.ts';
import { previewFleet } from './contract.ts';
import type { FleetDeps } from './ports.ts';
import type { Preview, Target } from './schema.ts';

/** The target as objects keep it. */
export const targetOf = ({ All: all, ...target }: Target): FleetTarget => (all === undefined ? target : { All: {} });

type PreviewDeps = Pick<FleetDeps, 'cluster'>;

/** The hosts of a target now (spec 2 §4.5). @throws HttpError 400 for a group that the tenant has not. */
async function previewTarget(deps: PreviewDeps, tenant: string, target: Target): Promise<Preview> {
  const { resolved, skipped } = await resolve(deps, tenant, target);
  return { resolved: resolved.map(presentResolved), skipped: [...skipped] };
}

async function resolve({ cluster }: PreviewDeps, tenant: string, target: Target): Promise<ResolvedTarget> {
  const known = await groupOf({ cluster }, tenant, target);
  const group = known && (await cluster.edgeGroups.whole(known));
  const hosts = fleetHostsOf(cluster.edgeHosts.list(tenant));
  try {
    return await resolveTarget(targetOf(target), { hosts, group: () => group?.spec });
  } catch (error) {
    if (hasReason(error, 'TooManyTargets')) throw invalidField('body.target', error.message);
    throw error;
  }
}

/** The group that a target names, as a list shows it; undefined where it names none. @throws HttpError 400 for one that the tenant has not. */
export async function groupOf({ cluster }: PreviewDeps, tenant: string, { Group: id }: Target) {
  if (id === undefined) return undefined;
  const uid = id.toLowerCase();
  const group = isUid(uid) ? unlessBeingDeleted(await cluster.edgeGroups.locate(tenant, uid)) : undefined;
  if (group === undefined) throw invalidField('body.target.Group', 'is the id of no group of the tenant');
  return group;
}

/** spec 2 §4.5, requirements EDGE-REST-27. */
export function createPreviewRoute(deps: PreviewDeps): Route<Caller> {
  return defineRoute<typeof previewFleet, Caller>(previewFleet, async ({ body, caller: asked }) => {
    const { tenant } = edgeCaller(asked, 'svc.edge.fleet.read');
    return json(await previewTarget(deps, tenant, body.target));
  });
}
