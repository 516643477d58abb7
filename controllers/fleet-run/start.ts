import type { EdgeGroup } from '../../crds/schema/edge-group.ts';
import type { EdgeHost } from '../../crds/schema/edge-host.ts';
import type { FleetRun } from '../../crds/schema/fleet-run.ts';
import { unlessBeingDeleted } from '../../lib/being-deleted.ts';
import { fleetHostsOf } from '../../lib/fleet/fleet-host.ts';
import type { FrozenTargets } from '../../lib/fleet/run-record.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import type { Informer } from '../../lib/informer/index.ts';
import type { KubeClient } from '../../lib/kube/index.ts';
import type { OutputStore } from '../../lib/output-store/output-store.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import type { FleetCapable } from '../../lib/tools/fleet-capable.ts';
import type { ReconcileResult } from '../runtime/outcome.ts';
import { type AskSurroundingsDeps, askSurroundings } from './ask-surroundings.ts';
import { type Begun, begin, type RefusedRun, restsOnAbsence } from './begin.ts';
import { refusalForRoom } from './command-room.ts';
import { startFact } from './facts.ts';
import { type FinishDeps, finish, noSummary, write } from './finish.ts';
import { hold } from './finalizer.ts';
import { fleetRunLimits } from './limits.ts';
import type { CommandSender } from './ports.ts';
import { storeTargets } from './records.ts';
import type { RunViews } from './run-views.ts';
import { statusWith } from './status.ts';
import { answerOf, isRefused, NotYet, storedOr, waitToBegin } from './wait-to-begin.ts';
import { sizeOfTargets } from './view-bytes.ts';
import { noRoom } from './waiting-runs.ts';

export interface StartDeps extends FinishDeps, AskSurroundingsDeps {
  readonly kube: FinishDeps['kube'] & Pick<KubeClient, 'list'>;
  readonly hosts: Pick<CacheReader<EdgeHost, 'namespace'>, 'byIndex'>;
  readonly tenants: Pick<TenantDirectory, 'tenantOf'>;
  readonly readTenant: (namespace: string) => Promise<string | undefined>;
  readonly groups: Pick<Informer<EdgeGroup, 'namespace'>, 'cache' | 'use'>;
  readonly store: Pick<OutputStore, 'put'>;
  readonly fleetCapable: FleetCapable;
  readonly sender: Pick<CommandSender, 'roomFor'>;
  readonly views: Pick<RunViews, 'close' | 'takeRoom' | 'isWaiting' | 'open' | 'wish'>;
  /** Undefined: commands can be sent. Else why not. */
  readonly problem?: RefusedRun | undefined;
}

/** Fixes the targets of a run that has not begun and stores them; from then on a restart continues with the same hosts. */
export async function fixTargets(deps: StartDeps, run: FleetRun): Promise<ReconcileResult> {
  const tenant = deps.tenants.tenantOf(run.metadata.namespace ?? '');
  if (tenant === undefined) return refuseStranger(deps, run);
  if (deps.problem !== undefined) return refuse(deps, run, deps.problem);
  try {
    return await beginFor(deps, run, tenant);
  } catch (error) {
    if (!(error instanceof NotYet)) throw error;
    return waitToBegin(deps, run, error.why, (why) => refuse(deps, run, why));
  }
}

async function beginFor(deps: StartDeps, run: FleetRun, tenant: string): Promise<ReconcileResult> {
  if (deps.views.isWaiting(run.metadata.uid ?? '')) throw new NotYet(noRoom);
  const begun = await beginSurely(deps, run, await isCapable(deps, tenant, run));
  if (begun.kind === 'refused') return refuseInTime(deps, run, begun.why, begun.targets);
  const hosts = begun.targets.resolved.length;
  // Until the run is open, or is refused: others that ask meanwhile count it.
  using wish = deps.views.wish(tenant, hosts);
  const full = await answerOf(refusalForRoom(deps, tenant, { hosts, unsent: wish.unsent }), 'bus');
  if (full !== undefined) return await refuse(deps, run, full, begun.targets);
  if (!deps.views.takeRoom(run, tenant, sizeOfTargets(begun.targets))) throw new NotYet(noRoom);
  const now = deps.clock.now();
  const held = await hold(deps, run);
  const status = statusWith(held, now, {
    phase: 'Running',
    started_at: new Date(now).toISOString(),
    in_flight: 0,
    summary: noSummary,
    ...counts(begun.targets),
    ...(await storedOr(storeTargets(deps.store, run, begun.targets))),
  });
  const written = await write(deps, held, status);
  const fact = startFact(written);
  if (fact !== undefined) deps.facts.raise(fact);
  deps.views.open({ run: written, tenant, targets: begun.targets, records: [], isNew: true });
  return undefined;
}

/** By the caches, and by the API server where those lack a host or the group. A run that is new is not refused yet. */
async function beginSurely(deps: StartDeps, run: FleetRun, isFleetCapable: boolean): Promise<Begun> {
  const hosts = fleetHostsOf(deps.hosts.byIndex('namespace', run.metadata.namespace ?? ''));
  const known = await withGroup(deps, run, (group) => begin(run, { hosts, group, isFleetCapable }));
  if (!restsOnAbsence(known) || (known.kind === 'refused' && isNew(deps, run))) return known;
  return begin(run, { ...(await askSurroundings(deps, run)), isFleetCapable });
}

/** A task with the group that the run names, in full, where its tenant has it. */
async function withGroup<R>(
  { groups: { cache, use } }: Pick<StartDeps, 'groups'>,
  { metadata: { namespace }, spec: { target } }: FleetRun,
  task: (group: EdgeGroup | undefined) => Promise<R>,
): Promise<R> {
  const group = target.Group === undefined ? undefined : unlessBeingDeleted(cache.getByUid(target.Group));
  return group?.metadata.namespace === namespace && group !== undefined ? use(group, task) : task(undefined);
}

/** A run of one host may ask for any tool. Throws NotYet while the gateway cannot be asked. */
const isCapable = async ({ fleetCapable }: StartDeps, tenant: string, { spec }: FleetRun): Promise<boolean> =>
  spec.target.Node !== undefined || (await answerOf(fleetCapable(tenant, spec.tool), 'gateway'));

const counts = ({ resolved, skipped }: FrozenTargets) => ({
  targets_resolved: resolved.length,
  targets_skipped: skipped.length,
});

const notATenant = { reason: 'NotATenant', message: 'the namespace is no tenant' };

/** Caches may be behind the one who made a run beside its namespace and hosts. */
const isNew = ({ clock }: StartDeps, { metadata }: FleetRun): boolean =>
  clock.now() - Date.parse(metadata.creationTimestamp ?? '') < fleetRunLimits.unknownMs;

/** The namespace may be a tenant that the watch has yet to bring. */
async function refuseStranger(deps: StartDeps, run: FleetRun): Promise<ReconcileResult> {
  if (isNew(deps, run)) return { requeueAfterMs: fleetRunLimits.retryMs, reason: notATenant.reason };
  const tenant = await deps.readTenant(run.metadata.namespace ?? '');
  if (tenant !== undefined) return { requeueAfterMs: fleetRunLimits.tenantAgainMs, reason: notATenant.reason };
  return refuse(deps, run, notATenant);
}

/** A run that is new is looked at again first. */
async function refuseInTime(
  deps: StartDeps,
  run: FleetRun,
  why: RefusedRun,
  targets: FrozenTargets,
): Promise<ReconcileResult> {
  if (isNew(deps, run)) return { requeueAfterMs: fleetRunLimits.retryMs, reason: why.reason };
  return refuse(deps, run, why, targets);
}

async function refuse(
  deps: StartDeps,
  run: FleetRun,
  why: RefusedRun,
  targets?: FrozenTargets,
): Promise<ReconcileResult> {
  const fields = targets === undefined ? {} : { ...counts(targets), ...(await tryStore(deps, run, targets)) };
  const summary = { ...noSummary, not_started: targets?.resolved.length ?? 0 };
  return finish(deps, run, { ...why, outcome: 'refused', summary }, fields);
}

/** A run that sends nothing is refused also where its targets cannot be stored. */
const tryStore = ({ store }: StartDeps, run: FleetRun, targets: FrozenTargets) =>
  storeTargets(store, run, targets).catch((error: unknown) => {
    if (isRefused(error)) return {};
    throw error;
  });
