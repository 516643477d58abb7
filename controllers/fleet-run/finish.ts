import { limits } from '../../crds/limits.ts';
import type { FleetRun, FleetRunStatus } from '../../crds/schema/fleet-run.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { fleetRuns } from '../../lib/kinds.ts';
import type { KubeClient } from '../../lib/kube/index.ts';
import { deleteAsRead } from '../runtime/delete-as-read.ts';
import type { EventRecorder } from '../runtime/events.ts';
import type { FactSink } from '../runtime/facts.ts';
import type { ReconcileResult } from '../runtime/outcome.ts';
import { writeStatus } from '../runtime/write-status.ts';
import { endFact } from './facts.ts';
import { letGo } from './finalizer.ts';
import { endedStatus, type RunEnd } from './status.ts';
import type { OpenViews } from './view/open-views.ts';

export interface FinishDeps {
  readonly kube: Pick<KubeClient, 'get' | 'delete' | 'jsonPatch' | 'jsonPatchStatus'>;
  readonly clock: Clock;
  readonly events: EventRecorder;
  readonly facts: FactSink;
  readonly runs: Pick<CacheReader<FleetRun>, 'remember'>;
  readonly views: Pick<OpenViews, 'close'>;
}

export const noSummary = { ok: 0, err: 0, timed_out: 0, cancelled: 0, not_started: 0 } as const;

export const write = (deps: Pick<FinishDeps, 'kube' | 'runs'>, run: FleetRun, status: FleetRunStatus) =>
  writeStatus({ kube: deps.kube, resource: fleetRuns, cache: deps.runs }, run, status);

/** Ends a run for good, and says so. */
export async function finish(
  deps: FinishDeps,
  run: FleetRun,
  end: RunEnd,
  fields: Partial<FleetRunStatus>,
): Promise<ReconcileResult> {
  const written = await write(deps, run, endedStatus(run, deps.clock.now(), end, fields));
  const { reason = '', message = '' } = written.status ?? {};
  const isExpected = end.outcome === 'cancelled' || (end.outcome === 'complete' && reason === 'Completed');
  const type = isExpected ? 'Normal' : 'Warning';
  deps.events.record({ resource: fleetRuns, object: written, type, reason, action: 'Reconcile', note: message });
  return afterEnd(deps, written);
}

/** A run that has ended needs no view any more, and is deleted when its time is over. */
export async function afterEnd(deps: FinishDeps, ended: FleetRun): Promise<ReconcileResult> {
  deps.views.close(ended.metadata.uid ?? '');
  const fact = endFact(ended);
  if (fact !== undefined) deps.facts.raise(fact);
  const run = await letGo(deps, ended);
  const seconds = run.spec.ttl_seconds_after_finished ?? limits.fleetRunTtlSecondsDefault;
  const left = Date.parse(run.status?.ended_at ?? '') + seconds * 1_000 - deps.clock.now();
  if (left > 0) return { requeueAfterMs: left, reason: 'time to live' };
  await deleteAsRead(deps.kube, fleetRuns, run);
  return undefined;
}
