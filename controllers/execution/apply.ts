import { annotations, apiVersion, labels } from '../../crds/labels.ts';
import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { ToolCall } from '../../crds/schema/tool-call.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { NewId } from '../../lib/ids.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { volumes, workflowExecutions } from '../../lib/kinds.ts';
import {
  createOwn,
  type KubeClient,
  type KubeObject,
  type Pod,
  takeOrCreateOwn,
  unlessChanged,
} from '../../lib/kube/index.ts';
import { labelValue } from '../../lib/pod-slot.ts';
import { type CreatePodDeps, createPod } from '../step-pods/create-pod.ts';
import { toRead } from '../step-pods/observe-pod.ts';
import { type ReleasePodDeps, releasePod, stopPod } from '../step-pods/release-pod.ts';
import { holdForArchive, letGoOfArchive } from '../archiving/archive-finalizer.ts';
import type { Archives } from '../archiving/archives.ts';
import {
  type ChildDeps,
  cancelAgent,
  cancelChild,
  cancelToolCall,
  createAgent,
  createChild,
  createLinked,
  createToolCall,
  quotaWish,
} from './children.ts';
import type { Action } from './engine/decision.ts';
import type { Failure, PodFact } from './engine/facts.ts';
import { stepOwnerOf, stepPodOf } from './step-owner.ts';

export interface ApplyDeps extends Omit<CreatePodDeps, 'own'>, ReleasePodDeps, ChildDeps {
  readonly kube: Pick<KubeClient, 'create' | 'get' | 'listAll' | 'delete' | 'jsonPatch'>;
  readonly executions: CacheReader<WorkflowExecution>;
  readonly agents: CacheReader<AgentExecution>;
  readonly toolCalls: CacheReader<ToolCall>;
  readonly pods: CacheReader<Pod>;
  readonly volumes: CacheReader<Volume>;
  /** Called for a pod that the API server will never take. */
  readonly onRejected: (
    execution: WorkflowExecution,
    name: string,
    action: Extract<Action, { kind: 'create_pod' }>,
    failure: Failure,
  ) => void;
  /** Begins to read what a pod has to say. */
  readonly onFollow: (pod: Pod, source: 'log' | 'events') => void;
  readonly archives: Pick<Archives<WorkflowExecution>, 'begin' | 'unarchived'>;
  readonly newId: NewId;
}

/** Arguments of a handler. */
interface Hands extends ApplyDeps {
  /** Creates an object with a predictable name, or adopts the one that an earlier attempt created. */
  readonly own: typeof createOwn;
}

type Handler<K extends Action['kind']> = (
  deps: Hands,
  execution: WorkflowExecution,
  action: Extract<Action, { kind: K }>,
) => Promise<void>;

/** An action without a handler fails to compile. */
const handlers: { readonly [K in Action['kind']]: Handler<K> } = {
  create_pod: createStepPod,
  follow_pod: followPod,
  stop_pod: ({ kube }, execution, action) => stopPod(kube, podOf(execution, action), 'graceful'),
  release_pod: (deps, execution, action) => releasePod(deps, podOf(execution, action), action.stop),
  create_child: createChild,
  create_linked: createLinked,
  cancel_child: cancelChild,
  create_agent: createAgent,
  cancel_agent: cancelAgent,
  create_tool_call: createToolCall,
  cancel_tool_call: cancelToolCall,
  create_volume: createVolume,
  archive_execution: async ({ archives }, execution) => archives.begin(execution),
  hold_execution: (deps, execution) => unlessChanged(holdForArchive(held(deps), execution)),
  let_execution_go: (deps, execution) => unlessChanged(letGoOfArchive(held(deps), execution)),
  delete_execution: deleteExecution,
};

const held = ({ kube, executions: cache }: Hands) => ({ kube, cache, resource: workflowExecutions });

/** The actions to carry out. */
interface Orders {
  readonly actions: readonly Action[];
  /** Whether an earlier attempt, of this process or another one, may have carried out these actions. */
  readonly mayBeDone: boolean;
}

/** An action that was not carried out. */
export interface FailedAction {
  readonly action: Action;
  readonly error: unknown;
}

/**
 * Carries out all actions of a decision at once. An object that exists and is ours, or is gone already, counts as done.
 * Never rejects; resolves to the actions that failed, in their order.
 */
export async function apply(
  deps: ApplyDeps,
  execution: WorkflowExecution,
  { actions, mayBeDone }: Orders,
): Promise<readonly FailedAction[]> {
  const hands: Hands = { ...deps, own: mayBeDone ? takeOrCreateOwn : createOwn };
  const failed = actions.map(async (action): Promise<FailedAction | undefined> => {
    try {
      await run(hands, execution, action);
      return undefined;
    } catch (error) {
      return { action, error };
    }
  });
  return (await Promise.all(failed)).filter((one) => one !== undefined);
}

function run(deps: Hands, execution: WorkflowExecution, action: Action): Promise<void> {
  // The kind picks handler and action together, which the type system cannot see through a union.
  const handler = handlers[action.kind] as (deps: Hands, execution: WorkflowExecution, action: Action) => Promise<void>;
  return handler(deps, execution, action);
}

async function createStepPod(
  deps: Hands,
  execution: WorkflowExecution,
  action: Extract<Action, { kind: 'create_pod' }>,
): Promise<void> {
  const pod = stepPodOf(execution, action.slot);
  const rejection = await createPod(deps, stepOwnerOf(execution), pod, action.plan);
  if (rejection !== undefined) deps.onRejected(execution, pod.name, action, rejection);
}

/** Only the controllers write this label on a volume. */
const isOf =
  ({ metadata: { uid } }: WorkflowExecution) =>
  ({ metadata }: KubeObject): boolean =>
    metadata.labels?.[labels.executionUid] === uid;

type PodAction = Extract<Action, { kind: 'follow_pod' | 'stop_pod' | 'release_pod' }>;

const podOf = ({ metadata: { namespace = '' } }: WorkflowExecution, { name, uid }: PodAction) => ({
  name,
  namespace,
  uid,
});

/** Reads of pods, beside the decision: none of those that the decision releases. */
export function followPods(pods: readonly PodFact[], decided: readonly Action[]): Action[] {
  const released = new Set(decided.map((action) => (action.kind === 'release_pod' ? action.uid : undefined)));
  return pods.flatMap((pod): Action[] => {
    const source = released.has(pod.uid) ? undefined : toRead(pod);
    return source === undefined ? [] : [{ kind: 'follow_pod', name: pod.name, uid: pod.uid, source }];
  });
}

/** Reading needs no proof that the execution is still the one that was looked at. */
export const changesNothing = ({ kind }: Action): boolean => kind === 'follow_pod';

/** Begins to read; what it finds wakes the execution. */
async function followPod(
  deps: ApplyDeps,
  execution: WorkflowExecution,
  action: Extract<Action, { kind: 'follow_pod' }>,
): Promise<void> {
  const pod = deps.pods.get(`${execution.metadata.namespace}/${action.name}`);
  if (pod?.metadata.uid === action.uid) deps.onFollow(pod, action.source);
}

async function createVolume(
  deps: Hands,
  execution: WorkflowExecution,
  action: Extract<Action, { kind: 'create_volume' }>,
): Promise<void> {
  const made = await deps.quota.create(quotaWish(execution, volumes), () =>
    deps.own(deps.kube, volumes, volumeObject(execution, action), isOf(execution)),
  );
  // The next observation shows that another volume has the name.
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
  { kube, archives }: ApplyDeps,
  execution: WorkflowExecution,
  { unarchived }: Extract<Action, { kind: 'delete_execution' }>,
): Promise<void> {
  const { metadata } = execution;
  if (unarchived !== undefined) archives.unarchived(execution, unarchived);
  const { name, namespace = '', uid } = metadata;
  await unlessChanged(
    kube.delete(
      workflowExecutions,
      { name, namespace },
      { propagation: 'Background', ...(uid === undefined ? {} : { uid }) },
    ),
  );
}
