import type { EventReason } from '../../crds/conditions.ts';
import type { FleetRun } from '../../crds/schema/fleet-run.ts';
import { messageOf } from '../../lib/errors.ts';
import { fleetRuns } from '../../lib/kinds.ts';
import { findAgain, type KubeClient } from '../../lib/kube/index.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import type { Logger } from '../../lib/logger.ts';
import type { TenantDirectory } from '../../lib/tenant/tenant-directory.ts';
import type { EventRecorder } from '../runtime/events.ts';
import type { ReconcileResult } from '../runtime/outcome.ts';
import { cancelDeleted } from './abandon.ts';
import { type DriveDeps, drive } from './drive.ts';
import { letGo } from './hold.ts';
import { fleetRunLimits } from './limits.ts';
import type { RunSession } from './session.ts';
import { closeSession, reopenSession, type SessionsDeps } from './sessions.ts';

export interface LeaveDeps extends DriveDeps, SessionsDeps {
  readonly kube: Pick<KubeClient, 'get' | 'jsonPatch'>;
  readonly runs: Pick<CacheReader<FleetRun>, 'remember'>;
  readonly events: EventRecorder;
  readonly logger: Pick<Logger, 'warn'>;
  readonly tenants: Pick<TenantDirectory, 'tenantOf'>;
  /** Since when this process ends the commands of each run that is deleted, by uid. */
  readonly leaving: Map<string, number>;
}

/** How far the commands of a run are. */
type Ending = { readonly kind: 'over' } | { readonly kind: 'open'; readonly commands: number; readonly why: string };

/**
 * Ends the commands of a run that is deleted and held, and lets it go: at once where none is under way, else when they have
 * ended, and after `leaveMs` in any case (ADR 0104).
 */
export async function leave(deps: LeaveDeps, run: FleetRun): Promise<ReconcileResult> {
  const { uid = '' } = run.metadata;
  const now = deps.clock.now();
  const since = deps.leaving.get(uid) ?? now;
  deps.leaving.set(uid, since);
  const ending = await endCommands(deps, run);
  const leftMs = since + fleetRunLimits.leaveMs - deps.clock.now();
  if (ending.kind === 'open' && leftMs > 0) {
    return { requeueAfterMs: Math.min(leftMs, fleetRunLimits.retryMs), reason: 'its commands are cancelled' };
  }
  await letGo(deps, run);
  if (ending.kind !== 'over') warn(deps, run, ending);
  deps.leaving.delete(uid);
  closeSession(deps.sessions, uid);
  return undefined;
}

/** Never rejects: a run that cannot be looked at must not be held for ever. */
async function endCommands(deps: LeaveDeps, run: FleetRun): Promise<Ending> {
  const session = deps.sessions.get(run.metadata.uid ?? '');
  try {
    return session === undefined ? await takeUp(deps, run) : await goOn(deps, session);
  } catch (error) {
    const commands = session?.progress.inFlight ?? run.status?.in_flight ?? 0;
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
  return goOn(deps, await reopenSession(deps, run, tenant));
}

async function goOn(deps: LeaveDeps, session: RunSession): Promise<Ending> {
  cancelDeleted(session);
  const isOver = session.isCaughtUp && (await drive(deps, session)).end !== undefined;
  if (isOver) return { kind: 'over' };
  const why = session.isCaughtUp ? 'they were cancelled and gave no result' : 'the event bus could not be read';
  return { kind: 'open', commands: session.progress.inFlight, why };
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
