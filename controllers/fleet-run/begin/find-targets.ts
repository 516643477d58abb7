import type { EdgeGroup } from '../../../crds/schema/edge-group.ts';
import type { EdgeHost } from '../../../crds/schema/edge-host.ts';
import type { FleetRun } from '../../../crds/schema/fleet-run.ts';
import { unlessBeingDeleted } from '../../../lib/being-deleted.ts';
import { fleetHostsOf } from '../../../lib/fleet/fleet-host.ts';
import type { CacheReader } from '../../../lib/informer/cache.ts';
import type { Informer } from '../../../lib/informer/index.ts';
import type { FleetCapable } from '../../../lib/tools/fleet-capable.ts';
import { type AskSurroundingsDeps, askSurroundings } from './ask-surroundings.ts';
import { type FixedTargets, fixTargets, restsOnAbsence } from './fix-targets.ts';
import { type AgeDeps, isNew } from './is-new.ts';
import { answerOrNotYet } from './not-yet.ts';

export interface FindTargetsDeps extends AskSurroundingsDeps, AgeDeps {
  readonly hosts: Pick<CacheReader<EdgeHost, 'namespace'>, 'byIndex'>;
  readonly groups: Pick<Informer<EdgeGroup, 'namespace'>, 'cache' | 'use'>;
  readonly fleetCapable: FleetCapable;
}

/**
 * The targets of a run, by the caches, and by the API server where those lack a host or the group. A run that is new is not
 * refused yet. Throws NotYet while the gateway cannot be asked.
 */
export async function findTargets(deps: FindTargetsDeps, run: FleetRun, tenant: string): Promise<FixedTargets> {
  const isFleetCapable = await isCapable(deps, tenant, run);
  const hosts = fleetHostsOf(deps.hosts.byIndex('namespace', run.metadata.namespace ?? ''));
  const known = await withGroup(deps, run, (group) => fixTargets(run, { hosts, group, isFleetCapable }));
  if (!restsOnAbsence(known) || (known.kind === 'refused' && isNew(deps, run))) return known;
  return fixTargets(run, { ...(await askSurroundings(deps, run)), isFleetCapable });
}

/** A run of one host may ask for any tool. */
const isCapable = async ({ fleetCapable }: FindTargetsDeps, tenant: string, { spec }: FleetRun): Promise<boolean> =>
  spec.target.Node !== undefined || (await answerOrNotYet(fleetCapable(tenant, spec.tool), 'gateway'));

/** A task with the group that the run names, in full, where its tenant has it. */
async function withGroup<R>(
  { groups: { cache, use } }: Pick<FindTargetsDeps, 'groups'>,
  { metadata: { namespace }, spec: { target } }: FleetRun,
  task: (group: EdgeGroup | undefined) => Promise<R>,
): Promise<R> {
  const group = target.Group === undefined ? undefined : unlessBeingDeleted(cache.getByUid(target.Group));
  return group?.metadata.namespace === namespace && group !== undefined ? use(group, task) : task(undefined);
}
