import { captureFinalizer, labels } from '../../crds/labels.ts';
import { limits } from '../../crds/limits.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { ToolCall } from '../../crds/schema/tool-call.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { WorkflowExecutionStatus } from '../../crds/schema/workflow-execution-status.ts';
import { isBeingDeleted } from '../../lib/being-deleted.ts';
import type { Clock } from '../../lib/clock.ts';
import { WaitError } from '../../lib/errors.ts';
import { finished, isTerminal } from '../../lib/execution/finished.ts';
import type { Informer } from '../../lib/informer/index.ts';
import { workflowExecutions } from '../../lib/kinds.ts';
import { type KubeClient, keyOf, type ObjectMeta, refOfKey } from '../../lib/kube/index.ts';
import type { OutputStore } from '../../lib/output-store/output-store.ts';
import type { EventRecorder } from '../runtime/events.ts';
import { type ReconcileResult, RefusedError } from '../runtime/outcome.ts';
import type { TurnGate } from '../runtime/turn-gate.ts';
import { ownedBy } from '../step-pods/step.ts';
import { isTerminating } from '../tenants.ts';
import type { QuotaGate } from '../step-pods/quota-gate.ts';
import { type ApplyDeps, apply, changesNothing, followPods } from './apply.ts';
import type { Archives } from '../archiving/archives.ts';
import type { Blocked } from './blocked.ts';
import type { Bugs } from './bugs.ts';
import type { Confirmed } from './confirmed.ts';
import type { Action, Decision } from './engine/decision.ts';
import type { PinnedDefinition, Facts, LinkedFact } from './engine/facts.ts';
import type { FindWorkflow } from './find-workflow.ts';
import { type EndRoutes, isEndPending } from './linked.ts';
import { type Caches, type ObserveDeps, observe, observeDescendants, successorsOf } from './observe.ts';
import { originOf, withPin } from './origin.ts';
import { releaseOutputs } from './outputs-finalizer.ts';
import { releaseRecord } from '../archiving/release-record.ts';
import { actionRefusal } from './action-refusal.ts';
import { awaitedVolumes, rememberVolumes } from './remember-volumes.ts';
import { settle } from './settle.ts';
import { tellWaiting } from './waiting.ts';

export interface ExecutionDeps {
  readonly kube: Pick<KubeClient, 'get' | 'jsonPatchStatus' | 'jsonPatch' | 'list' | 'listAll'>;
  readonly clock: Clock;
  readonly caches: Caches;
  /** Executions in full: the cache has of each only what wakes it. */
  readonly wholes: Pick<Informer<WorkflowExecution>, 'whole' | 'use' | 'weight'>;
  readonly wholeAgents: Pick<Informer<AgentExecution>, 'whole'>;
  readonly wholeToolCalls: Pick<Informer<ToolCall>, 'whole'>;
  readonly observe: ObserveDeps;
  readonly apply: ApplyDeps;
  readonly findWorkflow: FindWorkflow;
  readonly endRoutes: EndRoutes;
  /** Whether a namespace is being deleted. */
  readonly isEnding: (namespace: string) => boolean;
  readonly store: OutputStore;
  readonly turns: TurnGate;
  readonly bugs: Bugs;
  readonly events: EventRecorder;
  /** Called for each state that has ended, with its duration in seconds. */
  readonly onStateEnded: (kind: string, status: string, seconds: number) => void;
  /** Called where an execution waits for a workflow that is not there or not accepted, or for the key of a volume. */
  readonly onWaiting: (key: string, awaited: string) => void;
  readonly blocked: Blocked;
  /** The line of those who want an object that a quota has no room for. */
  readonly quota: Pick<QuotaGate, 'leave'>;
  readonly unstored: Blocked;
  readonly archives: Archives<WorkflowExecution>;
  readonly onUnstored: (podUid: string) => void;
  readonly confirmed: Confirmed;
  /** Called once, as far as this process knows, with the status with which an execution has ended. */
  readonly onOutcome: (execution: WorkflowExecution, status: WorkflowExecutionStatus) => void;
  /**
   * Called at least once for each execution that has ended, with its last status and the execution that its end
   * started.
   */
  readonly onFinished: (execution: WorkflowExecution, linked: LinkedFact | undefined) => void;
  /** Called when nothing more will run for an execution. */
  readonly onEnded: (uid: string) => void;
}

/** Brings one execution forward: observe, decide, store what is large, write status once, act (design §5). */
export function createExecutionReconcile(deps: ExecutionDeps): (key: string) => Promise<ReconcileResult> {
  return async (key) => {
    const execution = deps.caches.executions.get(key);
    if (execution === undefined || isTerminating(deps, execution)) return releaseAll(deps, key, execution);
    // Work after the end needs no value of the Blackboard, so the slim object suffices.
    if (finished(execution) && !isEndPending(execution) && !hasNewSuccessors(deps, execution)) {
      return bringForward(deps, execution);
    }
    return deps.wholes.use(execution, async (whole) => {
      // A deleted execution needs no work here: its delete event triggers another reconcile.
      if (whole === undefined) return undefined;
      return isTerminating(deps, whole) ? releaseAll(deps, key, whole) : bringForward(deps, whole);
    });
  };
}

/** New successors go into the status, and writing that list requires the whole object. */
function hasNewSuccessors({ caches }: ExecutionDeps, { metadata, status }: WorkflowExecution): boolean {
  const known = new Set(status?.successors?.map(({ uid }) => uid));
  const newest = successorsOf(caches, metadata).slice(-limits.successors);
  return newest.some(({ uid }) => !known.has(uid));
}

async function bringForward(deps: ExecutionDeps, execution: WorkflowExecution): Promise<ReconcileResult> {
  const now = deps.clock.now();
  const facts = await allFacts(deps, execution, now);
  const { decision, current } = await settle(deps, facts, now);
  measure(deps, execution, decision.status);
  recordEvents(deps, current, decision, facts.linked);
  const actions = [...orphanedPods(deps, current), ...decision.actions, ...followPods(facts.pods, decision.actions)];
  const isNew = current.metadata.resourceVersion !== execution.metadata.resourceVersion;
  if (!actions.every(changesNothing)) await deps.confirmed.check(current, isNew);
  const unblocked = await act(deps, current, { actions, wakeAt: decision.wakeAt, mayBeDone: !isNew });
  if (isTerminal(decision.status)) deps.onEnded(current.metadata.uid ?? '');
  const wakeAt = unblocked || endsNow(execution, decision) ? now : decision.wakeAt;
  if (wakeAt === undefined) return undefined;
  return { requeueAfterMs: Math.max(0, wakeAt - deps.clock.now()), reason: 'deadline' };
}

interface Intended extends Pick<Decision, 'actions' | 'wakeAt'> {
  /** No write of ours has proved that no other replica acted on the same version before. */
  readonly mayBeDone: boolean;
}

/** Our own write triggers no event, so the key is enqueued at once for the steps after the end. */
const endsNow = (before: WorkflowExecution, { status }: Decision): boolean => isTerminal(status) && !finished(before);

/**
 * A refused action shows in the status while it is tried again; a deadline is kept all the same. True where an action
 * refused before was done now, and the status has yet to say so.
 */
async function act(
  { apply: deps, blocked, quota, clock }: ExecutionDeps,
  execution: WorkflowExecution,
  { actions, wakeAt = Number.POSITIVE_INFINITY, mayBeDone }: Intended,
): Promise<boolean> {
  const { uid = '', namespace = '' } = execution.metadata;
  const before = blocked.why(uid);
  const [failed] = await apply(deps, execution, { actions, mayBeDone });
  if (failed === undefined) {
    blocked.forget(uid);
    quota.leave(keyOf(execution));
    return before !== undefined;
  }
  const refusal = actionRefusal(failed);
  if (refusal === undefined) throw failed.error;
  blocked.add(execution, refusal);
  if (before === undefined) throw new WaitError(refusal.reason, 0);
  const leftMs = wakeAt - clock.now();
  const dueMs = leftMs > 0 ? leftMs : Number.POSITIVE_INFINITY;
  if (refusal.reason === 'Forbidden') throw new RefusedError(failed.error, dueMs);
  throw new WaitError(refusal.reason, Math.min(blocked.retryMs(namespace), dueMs));
}

async function allFacts(deps: ExecutionDeps, execution: WorkflowExecution, now: number): Promise<Facts> {
  const { uid = '' } = execution.metadata;
  const [blocked, unstored] = [deps.blocked.why(uid), deps.unstored.why(uid)];
  const origin = await originOf(deps, execution);
  const workflow = await deps.findWorkflow.pinned(withPin(execution, origin));
  const facts = { ...observe(deps.observe, execution, now), blocked, unstored, workflow, origin };
  if (workflow.kind === 'found') {
    const onEnd = deps.endRoutes(execution.metadata.namespace ?? '', workflow.definition);
    const descendants = observeDescendants(deps.caches, execution, workflow.definition, onEnd);
    return { ...facts, onEnd, descendants, volumes: await allVolumes(deps, execution, workflow.definition) };
  }
  tellWaiting(deps, execution, execution.spec.workflow);
  return facts;
}

async function allVolumes(deps: ExecutionDeps, execution: WorkflowExecution, definition: PinnedDefinition) {
  const { current, finished_at: finishedAt } = execution.status ?? {};
  if (finishedAt === undefined && current !== undefined) await rememberVolumes(deps, execution);
  return awaitedVolumes(deps, execution, definition);
}

/** How long the states took that a status has ended, and how the execution has where it is the first to say so. */
function measure(deps: ExecutionDeps, before: WorkflowExecution, after: WorkflowExecutionStatus): void {
  const known = before.status?.history?.length ?? 0;
  for (const { kind, status, entered_at, finished_at } of (after.history ?? []).slice(known)) {
    deps.onStateEnded(kind, status, (Date.parse(finished_at) - Date.parse(entered_at)) / 1_000);
  }
  if (isTerminal(after) && !finished(before)) deps.onOutcome(before, after);
}

function recordEvents(
  { events, onFinished }: ExecutionDeps,
  execution: WorkflowExecution,
  decision: Decision,
  linked: LinkedFact | undefined,
): void {
  const { happenings, status } = decision;
  if (isTerminal(status)) onFinished(execution, linked);
  for (const { type, reason, message } of happenings) {
    events.record({
      resource: workflowExecutions,
      object: execution,
      type,
      reason,
      action: 'Reconcile',
      note: message,
    });
  }
}

/** An execution that is gone, or terminates, leaves no output behind, and no pod that waits for its output to be taken. */
async function releaseAll(
  deps: ExecutionDeps,
  key: string,
  execution: WorkflowExecution | undefined,
): Promise<ReconcileResult> {
  const { namespace = '', name } = refOfKey(key);
  deps.quota.leave(key);
  const owner = execution ?? ({ metadata: { name, namespace } } as WorkflowExecution);
  const actions = [...releases(deps, key), ...stops(deps, key, execution)];
  const [failed] = await apply(deps.apply, owner, { actions, mayBeDone: true });
  if (failed !== undefined) throw failed.error;
  if (execution === undefined) return undefined;
  const graceMs = deps.observe.settings.archiveGraceSeconds * 1_000;
  const { kube, executions: cache } = deps.apply;
  const releasing = { kube, cache, resource: workflowExecutions, archives: deps.archives, graceMs };
  const waitMs = await releaseRecord(releasing, execution, {
    now: deps.clock.now(),
    isEnding: deps.isEnding(namespace),
  });
  if (waitMs !== undefined) return { requeueAfterMs: waitMs, reason: 'archive' };
  await releaseOutputs(deps, execution);
  return undefined;
}

/**
 * A finalizer of others may keep a deleted execution for long: its pods end now, as if the garbage collector had taken it. A
 * namespace that ends takes its pods itself, and may have taken our right to.
 */
function stops({ caches, isEnding }: ExecutionDeps, key: string, execution: WorkflowExecution | undefined): Action[] {
  if (execution === undefined || isEnding(execution.metadata.namespace ?? '')) return [];
  return caches.pods
    .byIndex('owner', ownedBy('WorkflowExecution', key))
    .filter(({ metadata }) => metadata.labels?.[labels.executionUid] === execution.metadata.uid)
    .filter((pod) => !isBeingDeleted(pod))
    .map(({ metadata: { name = '', uid = '' } }) => ({ kind: 'stop_pod', name, uid }));
}

/** Pods of an execution that had the same name before this one: no other reconcile would release them. */
const orphanedPods = (deps: ExecutionDeps, execution: WorkflowExecution): Action[] =>
  releases(deps, keyOf(execution), ({ labels: found }) => found?.[labels.executionUid] !== execution.metadata.uid);

/** Lets go of pods that were made for an execution of this name and are being deleted. */
function releases(
  { caches, isEnding }: ExecutionDeps,
  key: string,
  isMeant: (metadata: ObjectMeta) => boolean = () => true,
): Action[] {
  const { namespace = '' } = refOfKey(key);
  return caches.pods
    .byIndex('owner', ownedBy('WorkflowExecution', key))
    .filter(({ metadata }) => metadata.finalizers?.includes(captureFinalizer) === true && isMeant(metadata))
    .filter(({ metadata }) => metadata.deletionTimestamp !== undefined || isEnding(namespace))
    .map(({ metadata: { name = '', uid = '' } }) => ({ kind: 'release_pod', name, uid }));
}
