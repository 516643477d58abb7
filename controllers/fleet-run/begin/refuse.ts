import type { FleetRun, FleetRunStatus } from '../../../crds/schema/fleet-run.ts';
import type { FrozenTargets } from '../../../lib/fleet/run-record.ts';
import type { OutputStore } from '../../../lib/output-store/output-store.ts';
import type { ReconcileResult } from '../../runtime/outcome.ts';
import { type FinishDeps, finish, noSummary } from '../finish.ts';
import { fleetRunLimits } from '../limits.ts';
import { isNotStored } from '../record/not-stored.ts';
import { storeTargets } from '../record/store-records.ts';
import type { StatedReason } from '../status.ts';
import { isNew } from './is-new.ts';

export interface RefuseDeps extends FinishDeps {
  readonly readTenant: (namespace: string) => Promise<string | undefined>;
  readonly store: Pick<OutputStore, 'put'>;
}

/** Ends a run that sends nothing. */
export async function refuse(
  deps: RefuseDeps,
  run: FleetRun,
  why: StatedReason,
  targets?: FrozenTargets,
): Promise<ReconcileResult> {
  const fields = targets === undefined ? {} : { ...hostCounts(targets), ...(await tryStore(deps, run, targets)) };
  const summary = { ...noSummary, not_started: targets?.resolved.length ?? 0 };
  return finish(deps, run, { ...why, outcome: 'refused', summary }, fields);
}

/** A run that is new is looked at again first. */
export async function refuseInTime(
  deps: RefuseDeps,
  run: FleetRun,
  why: StatedReason,
  targets: FrozenTargets,
): Promise<ReconcileResult> {
  if (isNew(deps, run)) return { requeueAfterMs: fleetRunLimits.retryMs, reason: why.reason };
  return refuse(deps, run, why, targets);
}

const notATenant = { reason: 'NotATenant', message: 'the namespace is no tenant' };

/** The namespace may be a tenant that the watch has yet to bring. */
export async function refuseStranger(deps: RefuseDeps, run: FleetRun): Promise<ReconcileResult> {
  if (isNew(deps, run)) return { requeueAfterMs: fleetRunLimits.retryMs, reason: notATenant.reason };
  const tenant = await deps.readTenant(run.metadata.namespace ?? '');
  if (tenant !== undefined) return { requeueAfterMs: fleetRunLimits.tenantAgainMs, reason: notATenant.reason };
  return refuse(deps, run, notATenant);
}

/** How many hosts the status says that a run has. */
export const hostCounts = ({
  resolved,
  skipped,
}: FrozenTargets): Pick<FleetRunStatus, 'targets_resolved' | 'targets_skipped'> => ({
  targets_resolved: resolved.length,
  targets_skipped: skipped.length,
});

/** A run that sends nothing is refused also where its targets cannot be stored. */
const tryStore = ({ store }: RefuseDeps, run: FleetRun, targets: FrozenTargets) =>
  storeTargets(store, run, targets).catch((error: unknown) => {
    if (isNotStored(error)) return {};
    throw error;
  });
