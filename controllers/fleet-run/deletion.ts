import type { EventReason } from '../../crds/conditions.ts';
import type { FleetRun } from '../../crds/schema/fleet-run.ts';
import { messageOf } from '../../lib/errors.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { fleetRuns } from '../../lib/kinds.ts';
import { findAgain, type KubeClient } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import { tryPaced } from '../../lib/retry.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import type { EventRecorder } from '../runtime/events.ts';
import type { ReconcileResult } from '../runtime/outcome.ts';
import { type DriveDeps, drive } from './drive/drive.ts';
import { isHeld, letGo } from './finalizer.ts';
import { fleetRunLimits } from './limits.ts';
import { sizeInStatus } from './view/heap-bytes.ts';
import type { OpenViews } from './view/open-views.ts';
import type { RunView } from './view/run-view.ts';

export interface LeaveDeps extends DriveDeps {
  readonly views: OpenViews;
  readonly kube: Pick<KubeClient, 'get' | 'jsonPatch'>;
  readonly runs: Pick<CacheReader<FleetRun>, 'remember'>;
  readonly events: EventRecorder;
  readonly logger: Pick<Logger, 'warn'>;
  readonly tenants: Pick<TenantDirectory, 'tenantOf'>;
  /** Since when this process ends the commands of each run that is deleted, by uid; in time that never steps. */
  readonly leaving: Map<string, number>;
}

/** How far the commands of a run are. */
type Ending = { readonly kind: 'over' } | { readonly kind: 'open'; readonly commands: number; readonly why: string };

/**
 * Ends the commands of a run that is deleted and held, and lets it go. It does so at once where none is under way, else
 * when they have ended, and after `leaveMs` in any case (ADR 0104).
 */
export async function leave(deps: LeaveDeps, run: FleetRun): Promise<ReconcileResult> {
  const { uid = '' } = run.metadata;
  const now = deps.clock.steadyMs();
  const since = deps.leaving.get(uid) ?? now;
  deps.leaving.set(uid, since);
  const ending = await endCommands(deps, run);
  const leftMs = since + fleetRunLimits.leaveMs - deps.clock.steadyMs();
  if (ending.kind === 'open' && leftMs > 0) {
    return { requeueAfterMs: Math.min(leftMs, fleetRunLimits.retryMs), reason: 'its commands are cancelled' };
  }
  await letGo(deps, run);
  if (ending.kind !== 'over') warn(deps, run, ending);
  deps.leaving.delete(uid);
  deps.views.close(uid);
  return undefined;
}

/** Never rejects: a run that cannot be looked at must not be held for ever. */
async function endCommands(deps: LeaveDeps, run: FleetRun): Promise<Ending> {
  const view = deps.views.of(run.metadata.uid ?? '');
  try {
    return view === undefined ? await takeUp(deps, run) : await goOn(deps, view);
  } catch (error) {
    const commands = view?.progress.inFlight ?? run.status?.in_flight ?? 0;
    return { kind: 'open', commands, why: messageOf(error) };
  }
}

/** The cache may be behind: another process may have begun the run, or have ended it. */
async function takeUp(deps: LeaveDeps, cached: FleetRun): Promise<Ending> {
  const run = await findAgain(deps.kube, fleetRuns, cached);
  const { phase, started_at: startedAt, in_flight: commands = 0 } = run?.status ?? {};
  if (run === undefined || phase === 'Ended' || startedAt === undefined) return { kind: 'over' };
  const tenant = deps.tenants.tenantOf(run.metadata.namespace ?? '');
  if (tenant === undefined) return { kind: 'open', commands, why: 'the namespace is no tenant' };
  if (!deps.views.takeRoom(run, tenant, sizeInStatus(run)))
    return { kind: 'open', commands, why: 'the controllers have no room for the run' };
  return goOn(deps, await deps.views.reopen(run, tenant));
}

async function goOn(deps: LeaveDeps, view: RunView): Promise<Ending> {
  view.cancelAsDeleted();
  const isOver = view.isCaughtUp && (await drive(deps, view)).end !== undefined;
  if (isOver) return { kind: 'over' };
  const why = view.isCaughtUp ? 'they were cancelled and gave no result' : 'the event bus could not be read';
  return { kind: 'open', commands: view.progress.inFlight, why };
}

/** In a namespace that is being deleted no Event can be written: the log has it as well. */
function warn(
  { events, logger }: LeaveDeps,
  run: FleetRun,
  { commands, why }: Exclude<Ending, { kind: 'over' }>,
): void {
  const { name, namespace } = run.metadata;
  const reason: EventReason = 'CommandsLeft';
  const note = `${commands} commands of the deleted run may run on to their deadlines: ${why}`;
  events.record({ resource: fleetRuns, object: run, type: 'Warning', reason, action: 'Delete', note });
  logger.warn({ namespace, run: name, commands, why }, 'fleet run deleted with commands under way');
}

type AbandonDeps = DriveDeps & Pick<LeaveDeps, 'views' | 'kube'>;

/**
 * Ends the commands of a run that the cache lacks where the API server says that it is gone, such as one that an older version began
 * and held by no finalizer. A cache may lack a run that is there (ADR 0156): that one is left alone. Never rejects.
 */
export async function abandon(deps: AbandonDeps, uid: string): Promise<void> {
  const view = deps.views.of(uid);
  // One that waits for room, or has it and was not opened.
  if (view === undefined) return deps.views.close(uid);
  if (!view.beginMissed()) return;
  if (await isGone(deps, view)) {
    await endAbandoned(deps, view);
    // One that came back was cancelled, which this view alone knows: it ends by it.
    if (await isGone(deps, view)) deps.views.close(uid);
  }
  view.endMissed();
}

/** Waits for an answer of the server. False where the view is closed meanwhile. */
async function isGone({ clock, kube }: AbandonDeps, { run, signal }: RunView): Promise<boolean> {
  const pace = { clock, signal, pauseAfter: () => fleetRunLimits.retryMs };
  try {
    const found = await tryPaced(pace, () => findAgain(kube, fleetRuns, run));
    return found === undefined || (found.metadata.deletionTimestamp !== undefined && !isHeld(found));
  } catch {
    return false;
  }
}

/** Cancels the commands in flight, and waits for their end as long as a cancellation and its answer may take. */
async function endAbandoned(deps: AbandonDeps, view: RunView): Promise<void> {
  view.noteGone();
  const { clock } = deps;
  const until = clock.steadyMs() + fleetRunLimits.leaveMs;
  while (!view.signal.aborted && clock.steadyMs() < until) {
    const decision = view.isCaughtUp ? await drive(deps, view).catch(() => undefined) : undefined;
    if (decision?.end !== undefined) break;
    await clock.sleep(fleetRunLimits.deletionPauseMs, view.signal);
  }
}
