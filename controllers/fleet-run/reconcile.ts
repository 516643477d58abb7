import { limits } from '../../crds/limits.ts';
import type { EdgeGroup } from '../../crds/schema/edge-group.ts';
import type { EdgeHost } from '../../crds/schema/edge-host.ts';
import type { FleetRun, FleetRunStatus } from '../../crds/schema/fleet-run.ts';
import { unlessBeingDeleted } from '../../lib/being-deleted.ts';
import { AppError, hasReason } from '../../lib/errors.ts';
import { fleetHostsOf } from '../../lib/fleet/fleet-host.ts';
import type { FleetEnd } from '../../lib/fleet/plan.ts';
import type { FrozenTargets } from '../../lib/fleet/run-record.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import type { Informer } from '../../lib/informer/index.ts';
import { fleetRuns } from '../../lib/kinds.ts';
import { findAgain, type KubeClient } from '../../lib/kube/index.ts';
import type { FleetCapable } from '../../lib/tools/fleet-capable.ts';
import { deleteAsRead } from '../runtime/delete-as-read.ts';
import type { FactSink } from '../runtime/facts.ts';
import type { ReconcileResult } from '../runtime/outcome.ts';
import { writeStatus } from '../runtime/write-status.ts';
import { type AskSurroundingsDeps, askSurroundings } from './ask-surroundings.ts';
import { type Begun, begin, type RefusedRun, restsOnAbsence } from './begin.ts';
import { abandon, type LeaveDeps, leave } from './deletion.ts';
import { drive } from './drive.ts';
import { endFact, startFact } from './facts.ts';
import { hold, isHeld, letGo } from './finalizer.ts';
import { fleetRunLimits } from './limits.ts';
import type { RecordStore } from './record-parts.ts';
import { recordsDue, storeRecords, storeTargets } from './records.ts';
import type { RunView } from './run-view.ts';
import { endRevoked } from './stand-in-results.ts';
import { endedStatus, type RunEnd, statusWith } from './status.ts';

interface FleetRunDeps extends LeaveDeps, AskSurroundingsDeps, RecordStore {
  readonly kube: Pick<KubeClient, 'get' | 'list' | 'delete' | 'jsonPatch' | 'jsonPatchStatus'>;
  readonly facts: FactSink;
  readonly runs: Pick<CacheReader<FleetRun>, 'get' | 'remember'>;
  readonly hosts: Pick<CacheReader<EdgeHost, 'namespace'>, 'byIndex' | 'getByUid'>;
  readonly readTenant: (namespace: string) => Promise<string | undefined>;
  readonly groups: Pick<Informer<EdgeGroup, 'namespace'>, 'cache' | 'use'>;
  readonly fleetCapable: FleetCapable;
  /** Undefined: commands can be sent. Else why not. */
  readonly problem?: RefusedRun | undefined;
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
    if (phase === 'Ended') return afterwards(deps, run);
    return startedAt === undefined ? start(deps, run) : follow(deps, run);
  };
}

/** A view wakes the run when it has taken in what was stored before. */
async function follow(deps: FleetRunDeps, run: FleetRun): Promise<ReconcileResult> {
  const view = deps.views.of(run.metadata.uid ?? '');
  if (view === undefined) return resume(deps, run);
  return view.isCaughtUp && !view.isAbandoned ? goOn(deps, run, view) : undefined;
}

/** A run that has ended needs no view any more, and is deleted when its time is over. */
async function afterwards(deps: FleetRunDeps, ended: FleetRun): Promise<ReconcileResult> {
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

const write = (deps: FleetRunDeps, run: FleetRun, status: FleetRunStatus) =>
  writeStatus({ kube: deps.kube, resource: fleetRuns, cache: deps.runs }, run, status);

const noSummary = { ok: 0, err: 0, timed_out: 0, cancelled: 0, not_started: 0 } as const;

/** Begins a run, unless the cache is behind: another process may have begun it, and have sent commands. */
async function start(deps: FleetRunDeps, cached: FleetRun): Promise<ReconcileResult> {
  const run = await findAgain(deps.kube, fleetRuns, cached);
  // The cache is behind; it wakes the run when it has seen as much.
  if (run === undefined || run.metadata.deletionTimestamp !== undefined) return undefined;
  if (run.status?.phase === 'Ended') return undefined;
  return run.status?.started_at === undefined ? fixTargets(deps, run) : follow(deps, run);
}

/** Fixes the targets and stores them; from then on a restart continues with the same hosts. */
async function fixTargets(deps: FleetRunDeps, run: FleetRun): Promise<ReconcileResult> {
  const now = deps.clock.now();
  const { namespace = '' } = run.metadata;
  const tenant = deps.tenants.tenantOf(namespace);
  if (tenant === undefined) return refuseStranger(deps, run);
  if (deps.problem !== undefined) return refuse(deps, run, deps.problem);
  const isFleetCapable = await capable(deps, tenant, run);
  if (typeof isFleetCapable !== 'boolean') return isFleetCapable;
  const begun = await beginSurely(deps, run, isFleetCapable);
  if (begun.kind === 'refused') return refuseInTime(deps, run, begun.why, begun.targets);
  const held = await hold(deps, run);
  const status = statusWith(held, now, {
    phase: 'Running',
    started_at: new Date(now).toISOString(),
    in_flight: 0,
    summary: noSummary,
    ...counts(begun.targets),
    ...(await storeTargets(deps.store, run, begun.targets)),
  });
  const written = await write(deps, held, status);
  const fact = startFact(written);
  if (fact !== undefined) deps.facts.raise(fact);
  deps.views.open({ run: written, tenant, targets: begun.targets, records: [], isNew: true });
  return undefined;
}

/** By the caches, and by the API server where those lack a host or the group. A run that is new is not refused yet. */
async function beginSurely(deps: FleetRunDeps, run: FleetRun, isFleetCapable: boolean): Promise<Begun> {
  const hosts = fleetHostsOf(deps.hosts.byIndex('namespace', run.metadata.namespace ?? ''));
  const known = await withGroup(deps, run, (group) => begin(run, { hosts, group, isFleetCapable }));
  if (!restsOnAbsence(known) || (known.kind === 'refused' && isNew(deps, run))) return known;
  return begin(run, { ...(await askSurroundings(deps, run)), isFleetCapable });
}

/** A task with the group that the run names, in full, where its tenant has it. */
async function withGroup<R>(
  { groups: { cache, use } }: Pick<FleetRunDeps, 'groups'>,
  { metadata: { namespace }, spec: { target } }: FleetRun,
  task: (group: EdgeGroup | undefined) => Promise<R>,
): Promise<R> {
  const group = target.Group === undefined ? undefined : unlessBeingDeleted(cache.getByUid(target.Group));
  return group?.metadata.namespace === namespace && group !== undefined ? use(group, task) : task(undefined);
}

/** A run of one host may ask for any tool. The run waits while the gateway cannot be asked. */
async function capable(
  { fleetCapable }: FleetRunDeps,
  tenant: string,
  { spec }: FleetRun,
): Promise<boolean | NonNullable<ReconcileResult>> {
  if (spec.target.Node !== undefined) return true;
  try {
    return await fleetCapable(tenant, spec.tool);
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'unavailable') throw error;
    return { requeueAfterMs: fleetRunLimits.retryMs, reason: error.reason };
  }
}

const counts = ({ resolved, skipped }: FrozenTargets) => ({
  targets_resolved: resolved.length,
  targets_skipped: skipped.length,
});

const notATenant = { reason: 'NotATenant', message: 'the namespace is no tenant' };

/** Caches may be behind the one who made a run beside its namespace and hosts. */
const isNew = ({ clock }: FleetRunDeps, { metadata }: FleetRun): boolean =>
  clock.now() - Date.parse(metadata.creationTimestamp ?? '') < fleetRunLimits.unknownMs;

/** The namespace may be a tenant that the watch has yet to bring. */
async function refuseStranger(deps: FleetRunDeps, run: FleetRun): Promise<ReconcileResult> {
  if (isNew(deps, run)) return { requeueAfterMs: fleetRunLimits.retryMs, reason: notATenant.reason };
  const tenant = await deps.readTenant(run.metadata.namespace ?? '');
  if (tenant !== undefined) return { requeueAfterMs: fleetRunLimits.tenantAgainMs, reason: notATenant.reason };
  return refuse(deps, run, notATenant);
}

/** A run that is new is looked at again first. */
async function refuseInTime(
  deps: FleetRunDeps,
  run: FleetRun,
  why: RefusedRun,
  targets: FrozenTargets,
): Promise<ReconcileResult> {
  if (isNew(deps, run)) return { requeueAfterMs: fleetRunLimits.retryMs, reason: why.reason };
  return refuse(deps, run, why, targets);
}

async function refuse(
  deps: FleetRunDeps,
  run: FleetRun,
  why: RefusedRun,
  targets?: FrozenTargets,
): Promise<ReconcileResult> {
  const fields = targets === undefined ? {} : { ...counts(targets), ...(await storeTargets(deps.store, run, targets)) };
  const summary = { ...noSummary, not_started: targets?.resolved.length ?? 0 };
  return finish(deps, run, { ...why, outcome: 'refused', summary }, fields);
}

async function finish(
  deps: FleetRunDeps,
  run: FleetRun,
  end: RunEnd,
  fields: Partial<FleetRunStatus>,
): Promise<ReconcileResult> {
  const written = await write(deps, run, endedStatus(run, deps.clock.now(), end, fields));
  const { reason = '', message = '' } = written.status ?? {};
  const isExpected = end.outcome === 'cancelled' || (end.outcome === 'complete' && reason === 'Completed');
  const type = isExpected ? 'Normal' : 'Warning';
  deps.events.record({ resource: fleetRuns, object: written, type, reason, action: 'Reconcile', note: message });
  return afterwards(deps, written);
}

/** Another process, or this one before it lost the lease, has begun the run. */
async function resume(deps: FleetRunDeps, cached: FleetRun): Promise<ReconcileResult> {
  const run = await findAgain(deps.kube, fleetRuns, cached);
  // The cache is behind; it wakes the run when it has seen as much.
  if (run === undefined || run.metadata.deletionTimestamp !== undefined || run.status?.phase === 'Ended')
    return undefined;
  const tenant = deps.tenants.tenantOf(run.metadata.namespace ?? '');
  if (tenant === undefined) return { requeueAfterMs: fleetRunLimits.tenantAgainMs, reason: notATenant.reason };
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
  const fields = takeCancel(run, view);
  const isDue = deps.clock.steadyMs() >= view.statusDueAt;
  if (isDue) endRevoked(deps, view);
  const decision = await drive(deps, view);
  if (decision.end !== undefined) {
    const stored = await storeRecords(deps, run, view.waiting.all);
    return end(deps, run, { ...decision.end, cutHosts: view.cutHosts }, { ...fields, ...stored });
  }
  if (isDue || fields.cancellation !== undefined) await note(deps, run, view, fields);
  const now = deps.clock.steadyMs();
  const { lookAt = Number.POSITIVE_INFINITY } = view.progress.next(now);
  const next = Math.min(lookAt, view.statusDueAt);
  return { requeueAfterMs: Math.max(fleetRunLimits.pauseMs, next - now), reason: 'under way' };
}

/** requirements AMB-109: what a cancellation meets is counted when it is taken up, and written until the status has it. */
function takeCancel(run: FleetRun, view: RunView): Pick<FleetRunStatus, 'cancellation'> {
  const { isAsked, written } = cancelOf(run, view);
  if (!isAsked) return {};
  const cancellation = view.takeUpCancel(written);
  return written === undefined && cancellation !== undefined ? { cancellation } : {};
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
  const due = view.waiting.all.slice(0, recordsDue(run, view.waiting, now));
  const progress = progressOf(view, due.length);
  const stored = await storeRecords(deps, run, due);
  await write(deps, run, statusWith(run, deps.clock.now(), { ...fields, ...stored, ...progress }));
  view.noteStored(due.length);
}

/**
 * How far a run is, as its object keeps it for every process: each outcome that is counted is in the record, or in `open_outcomes`
 * (ADR 0165). Hosts that were never sent the command are counted at the end.
 */
function progressOf(view: RunView, stored: number) {
  const { summary, inFlight } = view.progress;
  const { sentSince } = view;
  return {
    summary: { ...summary, not_started: 0 },
    in_flight: inFlight,
    open_outcomes: view.openOutcomes(stored),
    ...(sentSince === undefined ? {} : { sent_since: new Date(sentSince).toISOString() }),
  };
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
