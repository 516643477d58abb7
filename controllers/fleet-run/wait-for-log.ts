import type { FleetRun, FleetRunStatus } from '../../crds/schema/fleet-run.ts';
import { commandIdOf } from '../../lib/edge/index.ts';
import type { ReconcileResult } from '../runtime/outcome.ts';
import { busFull } from './bus-full.ts';
import { fullPatienceMs } from './drive/drive.ts';
import { outcomeUnknown } from './drive/outcome-unknown.ts';
import { type FinishDeps, finish, write } from './finish.ts';
import { fleetRunLimits } from './limits.ts';
import { keepRecords } from './note-progress.ts';
import type { RecordStore } from './record/record-parts.ts';
import { statusWith } from './status.ts';
import type { RunView } from './view/run-view.ts';

type LogDeps = FinishDeps & RecordStore;

/**
 * A run sends nothing before it has read the log of its results. Where there is none, and NATS has no room for one, the run says so. It
 * is halted after the deadline of a command, or at once where it is cancelled and has sent nothing.
 */
export async function waitForLog(deps: LogDeps, run: FleetRun, view: RunView): Promise<ReconcileResult> {
  if (view.endWithoutLog !== undefined) return endWithoutLog(deps, run, view);
  const { fullSince } = view;
  // The view wakes the run when it has read the log.
  if (fullSince === undefined) return undefined;
  const waitedMs = deps.clock.steadyMs() - fullSince;
  const isCancelled = run.spec.cancel !== undefined && view.openBefore.length === 0;
  if (!isCancelled && waitedMs < fullPatienceMs(view)) {
    await sayFull(deps, run, view);
    return { requeueAfterMs: fleetRunLimits.fullAgainMs, reason: busFull.reason };
  }
  view.endWithoutLog = isCancelled ? 'cancelled' : 'halted';
  return endWithoutLog(deps, run, view);
}

async function sayFull(deps: LogDeps, run: FleetRun, { sentSince }: RunView): Promise<void> {
  if (run.status?.reason === busFull.reason) return;
  const fields = sentSince === undefined ? {} : { sent_since: new Date(sentSince).toISOString() };
  await write(deps, run, statusWith(run, deps.clock.now(), fields, busFull));
}

/** Hosts that may have the command get an outcome in the record, which needs no log. */
async function endWithoutLog(deps: LogDeps, run: FleetRun, view: RunView): Promise<ReconcileResult> {
  const at = new Date(deps.clock.now()).toISOString();
  const result = outcomeUnknown(
    'the event bus (NATS) had no room for results of the run, and the host may have run it',
  );
  for (const node of view.openBefore) {
    const ids = { tenant: view.tenant, run: view.uid, node_id: node, command_id: commandIdOf(view.uid, node) };
    view.endUnlogged({ ...ids, kind: 'result', at, result });
  }
  const kept = await keepRecords(deps, run, view, view.unstored.all.length);
  if (kept.why !== undefined) {
    await write(deps, run, statusWith(run, deps.clock.now(), countOfCancel(run, view), kept.why));
    return { requeueAfterMs: fleetRunLimits.fullAgainMs, reason: kept.why.reason };
  }
  const { summary, terminal } = view.progress;
  const { targets_resolved: all = 0 } = run.status ?? {};
  const counts = { ...summary, not_started: summary.not_started + all - terminal };
  const fields = { ...countOfCancel(run, view), ...kept.fields };
  if (view.endWithoutLog === 'cancelled') {
    const by = run.spec.cancel?.by ?? '';
    return finish(deps, run, { outcome: 'cancelled', summary: counts, cancelledBy: by }, fields);
  }
  const message =
    'the event bus (NATS) had no room for the results of the run for as long as the deadline of a command';
  return finish(deps, run, { outcome: 'halted', reason: busFull.reason, message, summary: counts }, fields);
}

/** A cancellation meets no command that it could cancel. */
function countOfCancel({ spec, status }: FleetRun, { progress }: RunView): Pick<FleetRunStatus, 'cancellation'> {
  if (spec.cancel === undefined || status?.cancellation !== undefined) return {};
  return { cancellation: { cancelled: 0, already_terminal: progress.terminal } };
}
