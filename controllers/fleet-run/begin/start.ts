import type { FleetRun } from '../../../crds/schema/fleet-run.ts';
import type { FrozenTargets } from '../../../lib/fleet/run-record.ts';
import type { KubeClient } from '../../../lib/kube/index.ts';
import type { TenantDirectory } from '../../../lib/tenant/tenant-directory.ts';
import type { ReconcileResult } from '../../runtime/outcome.ts';
import type { CommandSender } from '../commands/command.ts';
import { startFact } from '../facts.ts';
import { hold } from '../finalizer.ts';
import { type FinishDeps, noSummary, write } from '../finish.ts';
import { storeTargets } from '../record/store-records.ts';
import { type StatedReason, statusWith } from '../status.ts';
import { sizeOfTargets } from '../view/heap-bytes.ts';
import type { OpenViews } from '../view/open-views.ts';
import { noRoom } from '../wait-for-room.ts';
import { lackOfShare } from './command-share.ts';
import { type FindTargetsDeps, findTargets } from './find-targets.ts';
import { answerOrNotYet, NotYet, storedOrNotYet, waitToBegin } from './not-yet.ts';
import { hostCounts, refuse, type RefuseDeps, refuseInTime, refuseStranger } from './refuse.ts';

export interface StartDeps extends RefuseDeps, FindTargetsDeps {
  readonly kube: FinishDeps['kube'] & Pick<KubeClient, 'list'>;
  readonly tenants: Pick<TenantDirectory, 'tenantOf'>;
  readonly sender: Pick<CommandSender, 'roomFor'>;
  readonly views: Pick<OpenViews, 'close' | 'takeRoom' | 'roomOf' | 'isWaiting' | 'open' | 'wish'>;
  /** Undefined: commands can be sent. Else why not. */
  readonly problem?: StatedReason | undefined;
}

/**
 * The way of a run that has not begun to its first command:
 *
 * 1. its tenant is known, and this process can sign commands;
 * 2. the targets are found (`findTargets`);
 * 3. the share of the tenant has room for all commands (`lackOfShare`), and the memory of this process for the view;
 * 4. the object is held, and targets and phase are stored: from now on a restart continues with the same hosts (`store`);
 * 5. the view is open. It wakes the run when it has read the log, and `drive` hands the first commands over.
 *
 * A step that lacks something throws NotYet, and the run waits; a step that can never be taken refuses the run.
 */
export async function start(deps: StartDeps, run: FleetRun): Promise<ReconcileResult> {
  const tenant = deps.tenants.tenantOf(run.metadata.namespace ?? '');
  if (tenant === undefined) return refuseStranger(deps, run);
  if (deps.problem !== undefined) return refuse(deps, run, deps.problem);
  try {
    return await startFor(deps, run, tenant);
  } catch (error) {
    if (!(error instanceof NotYet)) throw error;
    return waitToBegin(deps, run, error.why, (why) => refuse(deps, run, why));
  }
}

/** Steps 2 to 5. */
async function startFor(deps: StartDeps, run: FleetRun, tenant: string): Promise<ReconcileResult> {
  if (deps.views.isWaiting(run.metadata.uid ?? '')) throw new NotYet(noRoom);
  const found = await findTargets(deps, run, tenant);
  if (found.kind === 'refused') return refuseInTime(deps, run, found.why, found.targets);
  const { targets } = found;
  const hosts = targets.resolved.length;
  // Until the run is open, or is refused: others that ask meanwhile count it.
  using wish = deps.views.wish(tenant, hosts);
  const full = await answerOrNotYet(lackOfShare(deps, tenant, { hosts, unsent: wish.unsent }), 'bus');
  if (full !== undefined) return await refuse(deps, run, full, targets);
  if (!deps.views.takeRoom(run, tenant, sizeOfTargets(targets))) throw new NotYet(noRoom);
  const room = deps.views.roomOf(run.metadata.uid ?? '');
  const stored = await store(deps, run, targets);
  deps.views.open({ run: stored, tenant, targets, records: [], isNew: true }, room);
  return undefined;
}

/** Step 4. */
async function store(deps: StartDeps, run: FleetRun, targets: FrozenTargets): Promise<FleetRun> {
  const now = deps.clock.now();
  const held = await hold(deps, run);
  const status = statusWith(held, now, {
    phase: 'Running',
    started_at: new Date(now).toISOString(),
    in_flight: 0,
    summary: noSummary,
    ...hostCounts(targets),
    ...(await storedOrNotYet(storeTargets(deps.store, run, targets))),
  });
  const written = await write(deps, held, status);
  const fact = startFact(written);
  if (fact !== undefined) deps.facts.raise(fact);
  return written;
}
