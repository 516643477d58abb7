import { annotations, apiVersion, captureFinalizer, labels } from '../../crds/labels.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { buildExecution } from '../../lib/execution/build-execution.ts';
import type { NewId } from '../../lib/ids.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { volumes, workflowExecutions } from '../../lib/kinds.ts';
import {
  createOwn,
  isConflict,
  isInvalid,
  isNotFound,
  isOutOfBounds,
  type KubeClient,
  KubeError,
  type KubeObject,
  keyOf,
  type Pod,
  pods,
  takeOrCreateOwn,
} from '../../lib/kube/index.ts';
import { labelValue } from '../../lib/pod-slot.ts';
import { holdForArchive, letGoOfArchive } from './archive-finalizer.ts';
import type { Archives } from './archives.ts';
import { createChild } from './create-child.ts';
import type { Action, PodStop } from './engine/decision.ts';
import type { Failure } from './engine/facts.ts';
import { podName } from './engine/names.ts';
import { takenUid } from './linked.ts';
import { buildPod, type PodSettings } from './pod.ts';
import type { QuotaGate } from './quota-gate.ts';

export interface ApplyDeps {
  readonly kube: Pick<KubeClient, 'create' | 'get' | 'listAll' | 'delete' | 'jsonPatch'>;
  readonly executions: CacheReader<WorkflowExecution>;
  readonly pods: CacheReader<Pod>;
  readonly volumes: CacheReader<Volume>;
  readonly podSettings: PodSettings;
  /** Everything that counts in a quota is made through it. */
  readonly quota: Pick<QuotaGate, 'create'>;
  /** Told of a pod that the API server will never take. */
  readonly onRejected: (
    execution: WorkflowExecution,
    name: string,
    action: Extract<Action, { kind: 'create_pod' }>,
    failure: Failure,
  ) => void;
  /** Told of a pod that nobody waits for any more. */
  readonly onReleased: (uid: string) => void;
  /** Told of a child that was made. */
  readonly onChildMade: (parentUid: string, name: string, uid: string) => void;
  /** Told of the execution that the end of another one started, by the uid of that one; `takenUid`: the name is taken. */
  readonly onLinkedMade: (originUid: string, name: string, uid: string) => void;
  readonly archives: Pick<Archives, 'begin'>;
  /** Told of an execution that was deleted without a record, and why. */
  readonly onUnarchived: (execution: WorkflowExecution, why: string) => void;
  /** Who cancels children. */
  readonly identity: string;
  readonly now: () => number;
  readonly newId: NewId;
}

/** What a handler is given. */
interface Hands extends ApplyDeps {
  /** Makes an object whose name can be foreseen, or takes the one that was made before. */
  readonly own: typeof createOwn;
}

type Handler<K extends Action['kind']> = (
  deps: Hands,
  execution: WorkflowExecution,
  action: Extract<Action, { kind: K }>,
) => Promise<void>;

/** An action without a handler fails to compile. */
const handlers: { readonly [K in Action['kind']]: Handler<K> } = {
  create_pod: createPod,
  stop_pod: stopPod,
  release_pod: releasePod,
  create_child: createChildOf,
  create_linked: createLinked,
  cancel_child: cancelChild,
  create_volume: createVolume,
  archive_execution: async ({ archives }, execution) => archives.begin(execution),
  hold_execution: (deps, execution) => ignoreGone(holdForArchive(deps, execution)),
  let_execution_go: (deps, execution) => ignoreGone(letGoOfArchive(deps, execution)),
  delete_execution: deleteExecution,
};

/** What is to be carried out. */
interface Orders {
  readonly actions: readonly Action[];
  /** Whether they may have been carried out before, by this process or another one, as what is new in no status may. */
  readonly mayBeDone: boolean;
}

/** Carries out what was decided, all at once. What exists already and is ours, or is gone already, counts as done. */
export async function apply(
  deps: ApplyDeps,
  execution: WorkflowExecution,
  { actions, mayBeDone }: Orders,
): Promise<void> {
  const hands: Hands = { ...deps, own: mayBeDone ? takeOrCreateOwn : createOwn };
  const results = await Promise.allSettled(actions.map((action) => run(hands, execution, action)));
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

function run(deps: Hands, execution: WorkflowExecution, action: Action): Promise<void> {
  // The kind picks handler and action together, which the type system cannot see through a union.
  const handler = handlers[action.kind] as (deps: Hands, execution: WorkflowExecution, action: Action) => Promise<void>;
  return handler(deps, execution, action);
}

async function createPod(
  deps: Hands,
  execution: WorkflowExecution,
  action: Extract<Action, { kind: 'create_pod' }>,
): Promise<void> {
  const name = podName(execution, action.slot);
  const pod = buildPod(execution, action.slot, action.plan, deps.podSettings);
  try {
    const made = await deps.quota.create(wishOf(execution, pods), () =>
      deps.own(deps.kube, pods, pod, isOf(execution)),
    );
    if (made.kind === 'foreign') deps.onRejected(execution, name, action, takenByAnother(name));
    else if (made.object !== undefined) deps.pods.remember(made.object);
  } catch (error) {
    const rejection = rejectionOf(error);
    if (rejection === undefined) throw error;
    deps.onRejected(execution, name, action, rejection);
  }
}

const wishOf = (execution: WorkflowExecution, { plural }: { readonly plural: string }) => ({
  namespace: execution.metadata.namespace ?? '',
  resource: plural,
  key: keyOf(execution),
});

/** Only the controllers write this label on a pod or a volume. */
const isOf =
  ({ metadata: { uid } }: WorkflowExecution) =>
  ({ metadata }: KubeObject): boolean =>
    metadata.labels?.[labels.executionUid] === uid;

const takenByAnother = (name: string): Failure => ({
  reason: 'PodRejected',
  message: `a pod named ${name} that Windlass did not make is in the way; delete it`,
});

/**
 * The pod itself is at fault: it breaks Pod Security, a LimitRange, or a quota that wants limits of every pod. A full
 * quota may have room again, and a missing right may be granted: those are tried again.
 */
function rejectionOf(error: unknown): Failure | undefined {
  if (!(error instanceof KubeError)) return undefined;
  const violation = error.status === 403 && error.serverMessage.includes('violates PodSecurity');
  if (error.status !== 422 && !violation && !isOutOfBounds(error)) return undefined;
  const hint = isOutOfBounds(error) ? '; mend resources.cpu and resources.memory of the step' : '';
  return { reason: 'PodRejected', message: `${error.serverMessage}${hint}` };
}

async function stopPod(
  deps: ApplyDeps,
  execution: WorkflowExecution,
  { name, uid }: Extract<Action, { kind: 'stop_pod' }>,
): Promise<void> {
  await deletePod(deps, execution, { name, uid, stop: 'graceful' });
}

type Target = { readonly name: string; readonly uid: string; readonly stop: PodStop };

async function deletePod(
  { kube }: ApplyDeps,
  { metadata }: WorkflowExecution,
  { name, uid, stop }: Target,
): Promise<void> {
  const grace = stop === 'force' ? { gracePeriodSeconds: 0 } : {};
  await ignoreGone(kube.delete(pods, { name, namespace: metadata.namespace ?? '' }, { uid, ...grace }));
}

/** Stops first: a pod that has been let go is never looked at again. */
async function releasePod(
  deps: ApplyDeps,
  execution: WorkflowExecution,
  { name, uid, stop }: Extract<Action, { kind: 'release_pod' }>,
): Promise<void> {
  if (stop !== undefined) await deletePod(deps, execution, { name, uid, stop });
  const { namespace = '' } = execution.metadata;
  const index = deps.pods.get(`${namespace}/${name}`)?.metadata.finalizers?.indexOf(captureFinalizer) ?? -1;
  if (index >= 0) await ignoreGone(removeFinalizer(deps, { name, namespace, uid }, index));
  deps.onReleased(uid);
}

type PodRef = { readonly name: string; readonly namespace: string; readonly uid: string };

async function removeFinalizer(deps: ApplyDeps, { name, namespace, uid }: PodRef, index: number): Promise<void> {
  const path = `/metadata/finalizers/${index}`;
  const released = await deps.kube.jsonPatch(pods, { name, namespace }, [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'test', path, value: captureFinalizer },
    { op: 'remove', path },
  ]);
  deps.pods.remember(released);
}

async function createChildOf(
  deps: Hands,
  execution: WorkflowExecution,
  { name, spec, owned }: Extract<Action, { kind: 'create_child' }>,
): Promise<void> {
  const child = await deps.quota.create(wishOf(execution, workflowExecutions), () =>
    createChild(deps, execution, { name, spec, owned }),
  );
  if (child === undefined) return;
  deps.executions.remember(child);
  deps.onChildMade(execution.metadata.uid ?? '', name, child.metadata.uid ?? '');
}

/** Only our accounts write the label of a stimulus. */
async function createLinked(
  deps: Hands,
  execution: WorkflowExecution,
  { plan }: Extract<Action, { kind: 'create_linked' }>,
): Promise<void> {
  const isOurs = ({ metadata }: KubeObject): boolean =>
    metadata.labels?.[labels.stimulus] === plan.labels?.[labels.stimulus];
  const made = await deps.quota.create(wishOf(execution, workflowExecutions), () =>
    deps.own(deps.kube, workflowExecutions, buildExecution(plan), isOurs),
  );
  const { uid = '' } = execution.metadata;
  if (made.kind === 'foreign') deps.onLinkedMade(uid, plan.name, takenUid);
  if (made.kind === 'foreign' || made.object === undefined) return;
  deps.executions.remember(made.object);
  deps.onLinkedMade(uid, plan.name, made.object.metadata.uid ?? '');
}

async function cancelChild(
  deps: ApplyDeps,
  { metadata: { namespace = '' } }: WorkflowExecution,
  { name, uid, reason }: Extract<Action, { kind: 'cancel_child' }>,
): Promise<void> {
  const cancel = { by: deps.identity, at: new Date(deps.now()).toISOString(), reason };
  await ignoreGone(
    deps.kube
      .jsonPatch(workflowExecutions, { name, namespace }, [
        { op: 'test', path: '/metadata/uid', value: uid },
        { op: 'add', path: '/spec/cancel', value: cancel },
      ])
      .then((child) => deps.executions.remember(child)),
  );
}

async function createVolume(
  deps: Hands,
  execution: WorkflowExecution,
  action: Extract<Action, { kind: 'create_volume' }>,
): Promise<void> {
  const made = await deps.quota.create(wishOf(execution, volumes), () =>
    deps.own(deps.kube, volumes, volumeObject(execution, action), isOf(execution)),
  );
  // What is observed next tells that another volume has the name.
  if (made.kind === 'ours' && made.object !== undefined) deps.volumes.remember(made.object);
}

function volumeObject(
  { metadata }: WorkflowExecution,
  { name, declared, spec, owned }: Extract<Action, { kind: 'create_volume' }>,
): Volume {
  const owner = { apiVersion, kind: 'WorkflowExecution', name: metadata.name, uid: metadata.uid ?? '' };
  return {
    apiVersion,
    kind: 'Volume',
    metadata: {
      name,
      namespace: metadata.namespace ?? '',
      labels: { [labels.execution]: labelValue(metadata.name), [labels.executionUid]: metadata.uid ?? '' },
      annotations: { [annotations.volume]: declared },
      ...(owned ? { ownerReferences: [owner] } : {}),
    },
    spec,
  };
}

async function deleteExecution(
  { kube, onUnarchived }: ApplyDeps,
  execution: WorkflowExecution,
  { unarchived }: Extract<Action, { kind: 'delete_execution' }>,
): Promise<void> {
  const { metadata } = execution;
  if (unarchived !== undefined) onUnarchived(execution, unarchived);
  const { name, namespace = '', uid } = metadata;
  await ignoreGone(
    kube.delete(
      workflowExecutions,
      { name, namespace },
      { propagation: 'Background', ...(uid === undefined ? {} : { uid }) },
    ),
  );
}

/** Gone, changed, or another object under the same name (a failed `test` answers 422): the watch brings what is new. */
async function ignoreGone(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error) && !isInvalid(error)) throw error;
  }
}
