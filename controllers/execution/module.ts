import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { newId } from '../../lib/ids.ts';
import { workflows as workflowKind } from '../../lib/kinds.ts';
import { keyOf, type Pod } from '../../lib/kube/index.ts';
import type { PodSlot } from '../../lib/pod-slot.ts';
import type { ControllersConfig } from '../config.ts';
import { onGone } from '../runtime/on-gone.ts';
import { defineModule, type ModuleContext } from '../runtime/module.ts';
import { createServerReads, verdictBounds } from '../../lib/server-reads.ts';
import { ownerKey } from '../step-pods/step.ts';
import { podQuotaGate } from '../step-pods/own-pod.ts';
import { createPodReader, type PodReader } from '../step-pods/pod-reader.ts';
import type { QuotaGate } from '../step-pods/quota-gate.ts';
import { createRejectedPods, type RejectedPods } from '../step-pods/rejected-pods.ts';
import { podSettings } from '../step-pods/settings.ts';
import type { PodSettings } from '../step-pods/template.ts';
import { endingNamespaces, tenantOf } from '../tenants.ts';
import type { ApplyDeps } from './apply.ts';
import { archiving, expireWhileLeading } from '../archiving/archiving.ts';
import type { Archives } from '../archiving/archives.ts';
import { createBlocked } from './blocked.ts';
import { createBugs } from './bugs.ts';
import { createConfirmed } from './confirmed.ts';
import { endFact } from './end-fact.ts';
import { endStimulusFacts } from './end-stimulus-facts.ts';
import type { LinkedFact } from './engine/facts.ts';
import { createFindWorkflow } from './find-workflow.ts';
import { createEndRoutes, type EndRoutes } from './linked.ts';
import { createMadeChildren, type MadeChildren } from './made-children.ts';
import { countOutcomes, createExecutionMetrics, type ExecutionMetrics } from './metrics.ts';
import type { Caches, ObserveDeps } from './observe.ts';
import { createExecutionReconcile, type ExecutionDeps } from './reconcile.ts';
import { connectWaiting, createWaiting, type WaitingExecutions } from './waiting.ts';
import { executionRecords } from './execution-records.ts';
import { executionInformers, executionWakes } from './wakes.ts';

type Context = ModuleContext<typeof executionInformers>;

export const executionModule = defineModule({
  kind: 'WorkflowExecution',
  informers: executionInformers,
  wakes: executionWakes,
  /** Asks the server for its version once. */
  async reconcile(context) {
    const settings = await podSettings(context.kube, context.config);
    return createExecutionReconcile(reconcileDeps(context, settings));
  },
});

function reconcileDeps(context: Context, settings: PodSettings): ExecutionDeps {
  const { kube, clock, logger, informers, config, runtime, events, store, turns, wake } = context;
  const { executions, pods } = informers;
  const caches = cachesOf(informers);
  const { blocked, unstored, bugs, onEnded, ...kept } = createNotes();
  const [confirmed, archives] = [createConfirmed({ kube, cache: executions.cache }), archivesOf(context)];
  const onNews = (pod: Pod): void => wake(ownerKey(pod, 'WorkflowExecution'));
  const reader = createPodReader({ kube, clock, logger, pods, onNews, signal: runtime.abandon });
  const memory = { reader, archives, quota: quotaGate(context), ...kept };
  const [waiting, metrics] = [waitingOf(context), metricsOf(context)];
  forgetGone(executions, onEnded, [archives, confirmed, kept.linkedExecutions]);
  return {
    kube,
    clock,
    caches,
    events,
    store,
    bugs,
    turns,
    findWorkflow: findWorkflowOf(context),
    endRoutes: endRoutesOf(context),
    wholes: executions,
    wholeAgents: informers.agents,
    wholeToolCalls: informers.toolCalls,
    isEnding: endingNamespaces(informers.tenants),
    onWaiting: (key, workflow) => waiting.add(key, workflow),
    blocked,
    quota: memory.quota,
    unstored,
    archives,
    onUnstored: (uid) => reader.giveBack(uid),
    confirmed,
    onStateEnded: (kind, status, seconds) => metrics.stateEnded(kind, status, seconds),
    onFinished: (execution, linked) => raiseEnd(context, execution, linked),
    onOutcome: countOutcome(context, metrics),
    onEnded,
    observe: observeDeps(config, caches, memory),
    apply: applyDeps(context, { settings, caches, metrics, ...memory }),
  };
}

const cachesOf = ({ executions, pods, volumes, agents, toolCalls }: Context['informers']): Caches => ({
  executions: executions.cache,
  pods: pods.cache,
  volumes: volumes.cache,
  agents: agents.cache,
  toolCalls: toolCalls.cache,
});

function archivesOf(context: Context): Archives<WorkflowExecution> {
  const { informers, store, turns } = context;
  expireWhileLeading(context);
  return archiving(context, {
    kind: executionRecords(store, turns),
    wholes: informers.executions,
    ownerOf: (owner) => owner,
  });
}

/** Nothing is remembered of an execution that is gone. */
function forgetGone(
  executions: Context['informers']['executions'],
  onEnded: (uid: string) => void,
  memories: readonly { forget(uid: string): void }[],
): void {
  onGone(executions, onEnded);
  for (const memory of memories) onGone(executions, (uid) => memory.forget(uid));
}

function raiseEnd({ facts }: Context, execution: WorkflowExecution, linked: LinkedFact | undefined): void {
  const fact = endFact(execution);
  if (fact !== undefined) facts.raise(fact);
  for (const stimulus of endStimulusFacts(execution, linked)) facts.raise(stimulus);
}

function waitingOf({ informers, wake }: Context): WaitingExecutions {
  const waiting = createWaiting();
  connectWaiting(informers, waiting, wake);
  return waiting;
}

function metricsOf({ metrics, informers: { executions } }: Context): ExecutionMetrics {
  return createExecutionMetrics(metrics.registry, () => {
    const counts: Record<string, number> = {};
    for (const { status } of executions.cache.values()) {
      const phase = status?.phase ?? 'pending';
      counts[phase] = (counts[phase] ?? 0) + 1;
    }
    return counts;
  });
}

const countOutcome = (context: Context, metrics: ExecutionMetrics): ExecutionDeps['onOutcome'] =>
  countOutcomes({
    metrics,
    onEnd: (reason) => context.metrics.ended('WorkflowExecution', reason),
    tenantOf: (namespace) => tenantOf(context.informers.tenants, namespace),
  });

/** Pods that have ended count no more; neither does what is gone. */
function quotaGate({ clock, wake, informers }: Context): QuotaGate {
  const { pods, executions, volumes, agents, toolCalls } = informers;
  const gate = podQuotaGate(clock, pods, wake);
  for (const informer of [executions, volumes, agents, toolCalls]) {
    informer.onChange(({ before, after }) => {
      if (after === undefined) gate.freed(before?.metadata.namespace ?? '');
    });
  }
  return gate;
}

function findWorkflowOf({ kube, clock, informers: { workflows, revisions } }: Context) {
  const caches = { workflows: workflows.cache, revisions: revisions.cache };
  const readWorkflow = createServerReads({ kube, clock, resource: workflowKind, bounds: verdictBounds });
  return createFindWorkflow({ kube, ...caches, readWorkflow, wholeRevision: revisions.whole });
}

function endRoutesOf({ tenants, informers: { routers } }: Context): EndRoutes {
  const isTenant = (namespace: string): boolean => tenants.tenantOf(namespace) !== undefined;
  return createEndRoutes({ routers: routers.cache, isTenant });
}

function observeDeps(
  config: ControllersConfig,
  caches: Caches,
  { reader, rejected, made, linkedExecutions, archives }: Omit<Memory, 'quota'>,
): ObserveDeps {
  return {
    caches,
    outcomeOf: (pod) => reader.outcomeOf(pod),
    noteOf: (pod) => reader.noteOf(pod),
    rejectedPods: (uid) => rejected.of(uid),
    madeChildren: (uid) => made.of(uid),
    linkedExecutions,
    archiveOf: (execution) => archives.stateOf(execution),
    settings: {
      executionTtlSeconds: config.WINDLASS_EXECUTION_TTL_SECONDS,
      archiveGraceSeconds: config.WINDLASS_ARCHIVE_GRACE_SECONDS,
    },
  };
}

/** State in memory of executions while they run. */
function createNotes() {
  const [rejected, blocked, made] = [createRejectedPods<PodSlot>(), createBlocked(), createMadeChildren()];
  const linkedExecutions = createMadeChildren();
  const [unstored, bugs] = [createBlocked(), createBugs()];
  const onEnded = (uid: string): void => {
    for (const notes of [rejected, blocked, unstored, made, bugs]) notes.forget(uid);
  };
  return { rejected, blocked, unstored, made, linkedExecutions, bugs, onEnded };
}

interface Memory {
  readonly reader: PodReader;
  readonly rejected: RejectedPods<PodSlot>;
  readonly made: MadeChildren;
  readonly linkedExecutions: MadeChildren;
  readonly quota: QuotaGate;
  readonly archives: Archives<WorkflowExecution>;
}

interface Acting extends Memory {
  readonly settings: PodSettings;
  readonly caches: Caches;
  readonly metrics: ExecutionMetrics;
}

function applyDeps({ kube, clock, wake }: Context, acting: Acting): ApplyDeps {
  const { settings, caches, reader, rejected, made, linkedExecutions, archives, quota } = acting;
  return {
    kube,
    ...caches,
    quota,
    podSettings: settings,
    archives,
    onChildMade: (parentUid, name, uid) => made.add(parentUid, name, uid),
    onLinkedMade: (originUid, name, uid) => {
      linkedExecutions.add(originUid, name, uid);
      const origin = caches.executions.getByUid(originUid);
      if (origin !== undefined) wake(keyOf(origin));
    },
    identity: 'windlass-controllers',
    newId,
    now: () => clock.now(),
    onFollow: (pod, source) => reader.follow(pod, source),
    onReleased: (uid) => reader.forget(uid),
    onRejected: (execution, name, action, failure) => {
      rejected.add(execution.metadata.uid ?? '', name, action.slot, failure);
      wake(keyOf(execution));
    },
  };
}
