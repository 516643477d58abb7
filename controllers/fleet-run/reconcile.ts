import type { EdgeHost } from '../../crds/schema/edge-host.ts';
import type { FleetRun, FleetRunStatus } from '../../crds/schema/fleet-run.ts';
import { hasReason } from '../../lib/errors.ts';
import type { FleetEnd } from '../../lib/fleet/plan.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { fleetRuns } from '../../lib/kinds.ts';
import { findAgain } from '../../lib/kube/index.ts';
import type { ReconcileResult } from '../runtime/outcome.ts';
import { start, type StartDeps } from './begin/start.ts';
import { abandon, type LeaveDeps, leave } from './deletion.ts';
import { drive } from './drive/drive.ts';
import { endRevoked } from './drive/stand-in-results.ts';
import { hold, isHeld } from './finalizer.ts';
import { afterEnd, finish, noSummary } from './finish.ts';
import { fleetRunLimits } from './limits.ts';
import { keepRecords, noteProgress } from './note-progress.ts';
import type { RecordStore } from './record/record-parts.ts';
import { recordsDue } from './record/store-records.ts';
import { sizeInStatus } from './view/heap-bytes.ts';
import type { RunView } from './view/run-view.ts';
import { waitForLog } from './wait-for-log.ts';
import { waitForRoom } from './wait-for-room.ts';

interface FleetRunDeps extends LeaveDeps, Omit<StartDeps, keyof LeaveDeps | 'store'>, RecordStore {
  readonly kube: StartDeps['kube'];
  readonly runs: Pick<CacheReader<FleetRun>, 'get' | 'remember'>;
  readonly hosts: Pick<CacheReader<EdgeHost, 'namespace'>, 'byIndex' | 'getByUid'>;
}

/** Runs a tool over hosts to its end (spec 2 §2.4, design §14). */
export function createFleetRunReconcile(deps: FleetRunDeps) {
  return async (key: string): Promise<ReconcileResult> => {
    const run = deps.runs.get(key);
    if (run === undefined) return undefined;
    if (run.metadata.deletionTimestamp !== undefined) {
      if (isHeld(run)) return leave(deps, run);
      // An older version of the controllers began it.
      void abandon(deps, run.metadata.uid ?? '');
      return undefined;
    }
    const { phase, started_at: startedAt } = run.status ?? {};
    if (phase === 'Ended') return afterEnd(deps, run);
    return startedAt === undefined ? startOnce(deps, run) : follow(deps, run);
  };
}

/** A view wakes the run when it has taken in what was stored before. */
async function follow(deps: FleetRunDeps, run: FleetRun): Promise<ReconcileResult> {
  const view = deps.views.of(run.metadata.uid ?? '');
  if (view === undefined) return resume(deps, run);
  if (view.isAbandoned) return undefined;
  return view.isCaughtUp ? goOn(deps, run, view) : waitForLog(deps, run, view);
}

/** Starts a run, unless the cache is behind: another process may have begun it, and have sent commands. */
async function startOnce(deps: FleetRunDeps, cached: FleetRun): Promise<ReconcileResult> {
  const run = await newest(deps, cached);
  if (run === undefined) return undefined;
  return run.status?.started_at === undefined ? start(deps, run) : follow(deps, run);
}

/** The run as the API server has it. Undefined where it is over: the cache wakes it when it has seen as much. */
async function newest({ kube }: FleetRunDeps, cached: FleetRun): Promise<FleetRun | undefined> {
  const run = await findAgain(kube, fleetRuns, cached);
  const isOver = run?.metadata.deletionTimestamp !== undefined || run?.status?.phase === 'Ended';
  return isOver ? undefined : run;
}

/** Another process, or this one before it lost the lease, has begun the run. */
async function resume(deps: FleetRunDeps, cached: FleetRun): Promise<ReconcileResult> {
  const run = await newest(deps, cached);
  if (run === undefined) return undefined;
  const tenant = deps.tenants.tenantOf(run.metadata.namespace ?? '');
  if (tenant === undefined) return { requeueAfterMs: fleetRunLimits.tenantAgainMs, reason: 'NotATenant' };
  if (!deps.views.takeRoom(run, tenant, sizeInStatus(run))) return waitForRoom(deps, run);
  try {
    // One that an older version began is not held yet.
    await deps.views.reopen(await hold(deps, run), tenant);
    return undefined;
  } catch (error) {
    if (!hasReason(error, 'OutputLost')) throw error;
    return endLost(deps, run, error.message);
  }
}

/** Without its record a run cannot be continued: which hosts it means is not known any more. */
function endLost(deps: FleetRunDeps, run: FleetRun, why: string): Promise<ReconcileResult> {
  const { summary = noSummary, in_flight: open = 0, targets_resolved: all = 0 } = run.status ?? {};
  const known = summary.ok + summary.err + summary.timed_out + summary.cancelled;
  // Those in flight have no outcome that is known.
  const failed = Math.min(open, all - known);
  const message = `the record of the run is lost, and ${failed} of its commands may be under way: ${why}`;
  const counts = { ...summary, err: summary.err + failed, not_started: all - known - failed };
  return finish(deps, run, { outcome: 'halted', reason: 'RecordLost', message, summary: counts }, {});
}

async function goOn(deps: FleetRunDeps, run: FleetRun, view: RunView): Promise<ReconcileResult> {
  noteParts(run, view);
  takeCancel(run, view);
  const isDue = deps.clock.steadyMs() >= view.statusDueAt;
  if (isDue) endRevoked(deps, view);
  const decision = await drive(deps, view);
  const fields = countOfCancel(run, view);
  if (decision.end !== undefined) return endWhole(deps, run, view, { end: decision.end, fields });
  if (isDue || fields.cancellation !== undefined) await note(deps, run, view, fields);
  const now = deps.clock.steadyMs();
  const { lookAt = Number.POSITIVE_INFINITY } = view.progress.next(now);
  const next = Math.min(lookAt, view.statusDueAt);
  return { requeueAfterMs: Math.max(fleetRunLimits.pauseMs, next - now), reason: 'under way' };
}

/** A status whose answer was lost has a part that this process would store again. Parts have the oldest outcomes, in their order. */
function noteParts({ status }: FleetRun, view: RunView): void {
  const stored = (status?.per_node_ref ?? []).reduce((sum, { nodes }) => sum + nodes, 0);
  const unknown = stored - view.unstored.stored;
  if (unknown > 0) view.noteStored(unknown);
}

function takeCancel(run: FleetRun, view: RunView): void {
  const { isAsked, written } = cancelOf(run, view);
  if (isAsked) view.takeUpCancel(written);
}

/** requirements AMB-109: what a cancellation met is written until the status has it. */
function countOfCancel(run: FleetRun, view: RunView): Pick<FleetRunStatus, 'cancellation'> {
  const { isAsked, written } = cancelOf(run, view);
  const { cancellation } = view;
  return isAsked && written === undefined && cancellation !== undefined ? { cancellation } : {};
}

/** The same for a cancellation that comes while a run waits whose hosts all have an outcome: nothing is in flight. */
function countOfLateCancel(run: FleetRun, view: RunView): Pick<FleetRunStatus, 'cancellation'> {
  const { isAsked, written } = cancelOf(run, view);
  if (!isAsked || written !== undefined) return {};
  return { cancellation: { cancelled: 0, already_terminal: view.progress.terminal } };
}

/** The view has read the run itself, which the cache may not have seen yet. */
const cancelOf = (run: FleetRun, { run: read }: RunView) => ({
  isAsked: (run.spec.cancel ?? read.spec.cancel) !== undefined,
  written: run.status?.cancellation ?? read.status?.cancellation,
});

/** Writes how far the run is, once a second at most, and stores outcomes when there are enough of them. */
async function note(deps: FleetRunDeps, run: FleetRun, view: RunView, fields: Partial<FleetRunStatus>): Promise<void> {
  const now = deps.clock.steadyMs();
  view.noteStatus(now);
  const kept = await keepRecords(deps, run, view, recordsDue(run, view.unstored, now));
  await noteProgress(deps, run, view, { fields, kept });
}

interface Ending {
  readonly end: FleetEnd;
  readonly fields: Partial<FleetRunStatus>;
}

/** Ends a run with all outcomes in its record. One whose record cannot be stored says so, and waits: an end without them would lose them. */
async function endWhole(deps: FleetRunDeps, run: FleetRun, view: RunView, ending: Ending): Promise<ReconcileResult> {
  const { fields } = ending;
  const kept = await keepRecords(deps, run, view, view.unstored.all.length);
  if (kept.why === undefined)
    return end(deps, run, { ...ending.end, cutHosts: view.cutHosts }, { ...fields, ...kept.fields });
  await noteProgress(deps, run, view, { fields: { ...countOfLateCancel(run, view), ...fields }, kept });
  return { requeueAfterMs: fleetRunLimits.retryMs, reason: kept.why.reason };
}

function end(
  deps: FleetRunDeps,
  run: FleetRun,
  ended: FleetEnd & { readonly cutHosts: number },
  fields: Partial<FleetRunStatus>,
): Promise<ReconcileResult> {
  const by = run.spec.cancel?.by;
  return finish(deps, run, by === undefined ? ended : { ...ended, cancelledBy: by }, fields);
}
