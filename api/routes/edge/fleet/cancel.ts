import type { FleetRun } from '../../../../crds/schema/fleet-run.ts';
import { startDeadline } from '../../../../lib/deadline.ts';
import { defineRoute, HttpError, json, type Route } from '../../../../lib/http/index.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import { fleetRuns } from '../../../../lib/kinds.ts';
import { findObject } from '../../../../lib/kube/index.ts';
import { notFound } from '../../not-found.ts';
import { changeSpec } from '../change-spec.ts';
import { edgeCaller } from '../edge-caller.ts';
import { unknownRun } from '../errors.ts';
import { cancelFleet } from './contract.ts';
import { locateRun } from './find-run.ts';
import type { FleetDeps } from './ports.ts';
import { isEnded, summaryOf } from './present.ts';

/** How long the controllers get to take the cancellation up. */
const patienceMs = 5_000;

type CancelDeps = Pick<FleetDeps, 'kube' | 'clock' | 'cluster' | 'audit' | 'runNews'>;
type By = Pick<Caller, 'subject' | 'tenant'>;

interface Cancelled {
  readonly fleet_command_id: string;
  readonly cancelled: number;
  readonly already_terminal: number;
}

/** Cancels a run of the caller's tenant (AMB-109). @throws HttpError 404, 409, 503 */
async function cancelRun(deps: CancelDeps, by: By, id: string): Promise<Cancelled> {
  const known = await latestOf(deps, await locateRun(deps.cluster.fleetRuns, by, id));
  if (isEnded(known)) return counted(known, undefined);
  const cancel = { by: by.subject, at: new Date(deps.clock.now()).toISOString(), via: 'api' as const };
  const run = await changeSpec(deps, {
    resource: fleetRuns,
    object: known,
    change: (spec: FleetRun['spec']) => (spec.cancel === undefined ? { ...spec, cancel } : spec),
    unknown: unknownRun,
  });
  deps.audit.record({ type: 'FleetRunCancelled', by, subject: run.metadata.uid ?? '', act: 'cancel' });
  return takenUp(deps, run);
}

/** Waits for the change of the run by which the controllers take the cancellation up. */
async function takenUp(deps: CancelDeps, run: FleetRun): Promise<Cancelled> {
  const { uid = '' } = run.metadata;
  using patience = startDeadline(deps.clock, patienceMs);
  const { signal } = patience;
  while (!signal.aborted) {
    const seen = deps.runNews.current(uid);
    if (seen !== undefined && isTakenUp(seen)) return counted(seen, seen.status?.cancellation);
    await deps.runNews.changed(uid, signal);
  }
  // The watch may be behind.
  const latest = await latestOf(deps, run);
  if (isTakenUp(latest)) return counted(latest, latest.status?.cancellation);
  const message = 'the cancellation is written, and the controllers have not taken it up yet; read the run';
  throw new HttpError({ code: 'unavailable', message });
}

const isTakenUp = (run: FleetRun): boolean => run.status?.cancellation !== undefined || isEnded(run);

async function latestOf({ kube }: CancelDeps, { metadata }: FleetRun): Promise<FleetRun> {
  const { name, namespace = '', uid } = metadata;
  const latest = await findObject(kube, fleetRuns, { name, namespace });
  if (latest === undefined || latest.metadata.uid !== uid) throw notFound(unknownRun);
  return latest;
}

/** Where the run had ended before, nothing was in flight, and every host with an outcome counts (AMB-109). */
function counted(run: FleetRun, cancellation: NonNullable<FleetRun['status']>['cancellation']): Cancelled {
  const { ok, err, timed_out: late, cancelled } = summaryOf(run);
  return {
    fleet_command_id: run.metadata.uid ?? '',
    cancelled: cancellation?.cancelled ?? 0,
    already_terminal: cancellation?.already_terminal ?? ok + err + late + cancelled,
  };
}

/** spec 2 §4.5, requirements EDGE-REST-35. */
export function createCancelRoute(deps: CancelDeps): Route<Caller> {
  return defineRoute<typeof cancelFleet, Caller>(cancelFleet, async ({ params, caller: asked }) => {
    const caller = edgeCaller(asked, 'svc.edge.fleet.manage');
    return json(await cancelRun(deps, caller, params.fleet_command_id));
  });
}
