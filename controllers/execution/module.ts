import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { newId } from '../../lib/ids.ts';
import { type KubeClient, keyOf, type Pod } from '../../lib/kube/index.ts';
import type { ControllersConfig } from '../config.ts';
import { defineModule, type ModuleContext } from '../runtime/module.ts';
import { executionKey } from '../step-pods/informer.ts';
import { endingNamespaces, tenantOf } from '../tenants.ts';
import type { ApplyDeps } from './apply.ts';
import { archiving } from './archiving.ts';
import type { Archives } from './archives.ts';
import { createBlocked } from './blocked.ts';
import { createBugs } from './bugs.ts';
import { type Captures, createCaptures } from './captures.ts';
import { createConfirmed } from './confirmed.ts';
import { endFact } from './end-fact.ts';
import { endStimulusFacts } from './end-stimulus-facts.ts';
import type { LinkedFact } from './engine/facts.ts';
import { createFindWorkflow } from './find-workflow.ts';
import { createEndRoutes, type EndRoutes } from './linked.ts';
import { createMadeChildren, type MadeChildren } from './made-children.ts';
import { createExecutionMetrics, type ExecutionMetrics } from './metrics.ts';
import type { Caches, ObserveDeps } from './observe.ts';
import { onGone } from './on-gone.ts';
import type { PodSettings } from './pod.ts';
import { createPodNotes } from './pod-notes.ts';
import { begunAt } from './pod-waiting.ts';
import { createExecutionReconcile, type ExecutionDeps } from './reconcile.ts';
import { createQuotaGate, type QuotaGate } from './quota-gate.ts';
import { createRejectedPods, type RejectedPods } from './rejected-pods.ts';
import { connectWaiting, createWaiting, type Waiting } from './waiting.ts';
import { executionInformers, executionWakes } from './wakes.ts';

type Context = ModuleContext<typeof executionInformers>;

/** The first minor version of Kubernetes 1 that mounts image volumes without a feature gate. */
const imageVolumesSince = 35;

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
  const caches = { executions: executions.cache, pods: pods.cache, volumes: informers.volumes.cache };
  const { blocked, unstored, bugs, onEnded, ...kept } = createNotes();
  const [confirmed, archives] = [createConfirmed({ kube, cache: executions.cache }), archiving(context)];
  const onKnown = (pod: Pod): void => wake(executionKey(pod));
  const captures = createCaptures({ kube, clock, logger, onKnown, signal: runtime.abandon });
  onGone(pods, (uid) => captures.forget(uid));
  const notes = podNotes(context, onKnown);
  const memory = { captures, archives, quota: quotaGate(context), ...kept };
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
    isEnding: endingNamespaces(informers.tenants),
    onWaiting: (key, workflow) => waiting.add(key, workflow),
    blocked,
    quota: memory.quota,
    unstored,
    archives,
    onUnstored: (uid) => captures.giveBack(uid),
    confirmed,
    onStateEnded: (kind, status, seconds) => metrics.stateEnded(kind, status, seconds),
    onFinished: (execution, linked) => raiseEnd(context, execution, linked),
    onOutcome: countOutcome(context, metrics),
    onEnded,
    observe: observeDeps(config, caches, memory, (pod) => notes.noteOf(pod)),
    apply: applyDeps(context, { settings, caches, metrics, ...memory }),
  };
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

function waitingOf({ informers, wake }: Context): Waiting {
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

/** One that completed without success is told apart: its phase alone would hide it. */
function countOutcome({ informers }: Context, metrics: ExecutionMetrics): ExecutionDeps['onOutcome'] {
  return ({ metadata }, { phase, reason }) => {
    const outcome = reason === 'LastStateFailed' ? 'last_state_failed' : phase;
    metrics.finished(tenantOf(informers.tenants, metadata.namespace ?? ''), outcome);
  };
}

/** Pods that have ended count no more; neither does what is gone. */
function quotaGate({ clock, wake, informers: { pods, executions, volumes } }: Context): QuotaGate {
  const gate = createQuotaGate(clock, wake);
  const counts = (pod: Pod | undefined): boolean =>
    pod !== undefined && pod.status?.phase !== 'Succeeded' && pod.status?.phase !== 'Failed';
  pods.onChange(({ before, after }) => {
    if (counts(before) && !counts(after)) gate.freed(before?.metadata.namespace ?? '');
  });
  for (const informer of [executions, volumes]) {
    informer.onChange(({ before, after }) => {
      if (after === undefined) gate.freed(before?.metadata.namespace ?? '');
    });
  }
  return gate;
}

/** What is known of a pod's wait is forgotten once it runs. */
function podNotes({ kube, clock, logger, informers: { pods }, runtime }: Context, onNews: (pod: Pod) => void) {
  const notes = createPodNotes({ kube, clock, logger, onNews, signal: runtime.abandon });
  pods.onChange(({ after }) => {
    if (after !== undefined && begunAt(after) !== undefined) notes.forget(after.metadata.uid ?? '');
  });
  onGone(pods, (uid) => notes.forget(uid));
  return notes;
}

function findWorkflowOf({ kube, informers: { workflows, revisions } }: Context) {
  const caches = { workflows: workflows.cache, revisions: revisions.cache };
  return createFindWorkflow({ kube, ...caches, wholeRevision: revisions.whole });
}

function endRoutesOf({ tenants, informers: { routers } }: Context): EndRoutes {
  const isTenant = (namespace: string): boolean => tenants.tenantOf(namespace) !== undefined;
  return createEndRoutes({ routers: routers.cache, isTenant });
}

function observeDeps(
  config: ControllersConfig,
  caches: Caches,
  { captures, rejected, made, linkedExecutions, archives }: Omit<Memory, 'quota'>,
  noteOf: NonNullable<ObserveDeps['noteOf']>,
): ObserveDeps {
  return {
    caches,
    outcomeOf: (pod) => captures.outcomeOf(pod),
    rejectedPods: (uid) => rejected.of(uid),
    madeChildren: (uid) => made.of(uid),
    linkedExecutions,
    noteOf,
    archiveOf: (execution) => archives.stateOf(execution),
    settings: {
      executionTtlSeconds: config.WINDLASS_EXECUTION_TTL_SECONDS,
      archiveGraceSeconds: config.WINDLASS_ARCHIVE_GRACE_SECONDS,
    },
  };
}

/** What is kept in memory of executions while they run. */
function createNotes() {
  const [rejected, blocked, made] = [createRejectedPods(), createBlocked(), createMadeChildren()];
  const linkedExecutions = createMadeChildren();
  const [unstored, bugs] = [createBlocked(), createBugs()];
  const onEnded = (uid: string): void => {
    for (const notes of [rejected, blocked, unstored, made, bugs]) notes.forget(uid);
  };
  return { rejected, blocked, unstored, made, linkedExecutions, bugs, onEnded };
}

interface Memory {
  readonly captures: Captures;
  readonly rejected: RejectedPods;
  readonly made: MadeChildren;
  readonly linkedExecutions: MadeChildren;
  readonly quota: QuotaGate;
  readonly archives: Archives;
}

interface Acting extends Memory {
  readonly settings: PodSettings;
  readonly caches: Caches;
  readonly metrics: ExecutionMetrics;
}

function applyDeps({ kube, clock, logger, wake }: Context, acting: Acting): ApplyDeps {
  const { settings, caches, metrics, captures, rejected, made, linkedExecutions, archives, quota } = acting;
  return {
    kube,
    ...caches,
    quota,
    podSettings: settings,
    archives,
    onUnarchived({ metadata: { namespace, name, uid } }, why) {
      metrics.unarchived();
      logger.error({ namespace, execution: name, uid, problem: why }, 'execution deleted without a record');
    },
    onChildMade: (parentUid, name, uid) => made.add(parentUid, name, uid),
    onLinkedMade: (originUid, name, uid) => {
      linkedExecutions.add(originUid, name, uid);
      const origin = caches.executions.getByUid(originUid);
      if (origin !== undefined) wake(keyOf(origin));
    },
    identity: 'windlass-controllers',
    newId,
    now: () => clock.now(),
    onReleased: (uid) => captures.forget(uid),
    onRejected: (execution, name, action, failure) => {
      rejected.add(execution, name, action.slot, failure);
      wake(keyOf(execution));
    },
  };
}

const ephemeralStorage = 'ephemeral-storage';

async function podSettings(kube: Pick<KubeClient, 'serverVersion'>, config: ControllersConfig): Promise<PodSettings> {
  const { major, minor } = await kube.serverVersion();
  const mount = config.WINDLASS_RUNNER_MOUNT;
  const able = major > 1 || minor >= imageVolumesSince;
  return {
    runnerImage: config.WINDLASS_RUNNER_IMAGE,
    systemImage: config.WINDLASS_SYSTEM_IMAGE,
    imageVolumes: mount === 'image-volume' || (mount === 'auto' && able),
    runAsUser: config.WINDLASS_STEP_RUN_AS_USER,
    doNotDisrupt: config.WINDLASS_STEP_DO_NOT_DISRUPT,
    nodeLostSeconds: config.WINDLASS_STEP_NODE_LOST_SECONDS,
    workdirSize: config.WINDLASS_STEP_WORKDIR_SIZE,
    alwaysPull: config.WINDLASS_STEP_ALWAYS_PULL,
    defaultResources: {
      requests: {
        cpu: config.WINDLASS_STEP_CPU_REQUEST,
        memory: config.WINDLASS_STEP_MEMORY_REQUEST,
        // Without a request of its own it would be the limit, of which a node has room for few.
        [ephemeralStorage]: '0',
      },
      limits: { [ephemeralStorage]: config.WINDLASS_STEP_EPHEMERAL_STORAGE },
    },
  };
}
