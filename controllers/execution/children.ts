import { apiVersion, labels } from '../../crds/labels.ts';
import type { AgentExecution, AgentExecutionSpec } from '../../crds/schema/agent-execution.ts';
import type { KubernetesObject } from '../../crds/schema/object.ts';
import type { ToolCall, ToolCallSpec } from '../../crds/schema/tool-call.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { inheritedLineage } from '../../lib/agent/lineage.ts';
import { buildExecution } from '../../lib/execution/build-execution.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { isCancelledBefore } from '../../lib/execution/cancelled-before.ts';
import { agentExecutions, toolCalls, workflowExecutions } from '../../lib/kinds.ts';
import { type KubeClient, type KubeObject, keyOf, type Resource, unlessChanged } from '../../lib/kube/index.ts';
import type { QuotaGate } from '../step-pods/quota-gate.ts';
import { type CreateNamedDeps, createNamed, type Named } from './create-named.ts';
import type { Action } from './engine/decision.ts';
import { inheritedLink } from './engine/links.ts';
import { takenUid } from './linked.ts';

export interface ChildDeps {
  readonly kube: Pick<KubeClient, 'create' | 'get' | 'listAll' | 'jsonPatch'>;
  readonly executions: Pick<CacheReader<WorkflowExecution>, 'remember'>;
  readonly agents: Pick<CacheReader<AgentExecution>, 'remember'>;
  readonly toolCalls: Pick<CacheReader<ToolCall>, 'remember'>;
  /** Everything that counts in a quota is made through it. */
  readonly quota: Pick<QuotaGate, 'create'>;
  /** Called for each new child. */
  readonly onChildMade: (parentUid: string, name: string, uid: string) => void;
  /**
   * Called for the execution that the end of another one started, by the uid of that one; `takenUid`: the name is
   * taken.
   */
  readonly onLinkedMade: (originUid: string, name: string, uid: string) => void;
  /** The canceller of children. */
  readonly identity: string;
  readonly now: () => number;
}

type MakeDeps = ChildDeps & CreateNamedDeps;
type ActionOf<K extends Action['kind']> = Extract<Action, { kind: K }>;

/** Request of an execution to the quota gate, for one object. */
export const quotaWish = (execution: WorkflowExecution, { plural }: { readonly plural: string }) => ({
  namespace: execution.metadata.namespace ?? '',
  resource: plural,
  key: keyOf(execution),
});

/** The child of one visit of a state, made once. Only the controllers write `spec.parent`. */
export const createChild = (
  deps: MakeDeps,
  parent: WorkflowExecution,
  { name, spec, owned }: ActionOf<'create_child'>,
): Promise<void> =>
  make(deps, parent, deps.executions, {
    resource: workflowExecutions,
    name,
    build: (as) => childObject(parent, { name: as, spec, owned }),
    isOurs: ({ spec: { parent: of } }) =>
      of?.uid === parent.metadata.uid && of?.state === spec.parent?.state && of?.visit === spec.parent?.visit,
  });

/** The agent of one visit of a state, or one of its judges, made once. Only the controllers write `spec.parent`. */
export const createAgent = (
  deps: MakeDeps,
  parent: WorkflowExecution,
  { name, spec }: ActionOf<'create_agent'>,
): Promise<void> =>
  make(deps, parent, deps.agents, {
    resource: agentExecutions,
    name,
    build: (as) => ownedObject(parent, 'AgentExecution', { name: as, spec }),
    isOurs: (there) => judgedPlace(there.spec) === judgedPlace(spec),
  });

/** The tool call of one visit of a state, made once. Only the controllers make one. */
export const createToolCall = (
  deps: MakeDeps,
  parent: WorkflowExecution,
  { name, spec }: ActionOf<'create_tool_call'>,
): Promise<void> =>
  make(deps, parent, deps.toolCalls, {
    resource: toolCalls,
    name,
    build: (as) => ownedObject(parent, 'ToolCall', { name: as, spec }),
    isOurs: (there) => visitPlace(there.spec) === visitPlace(spec),
  });

/** Which visit it is for, or which judge of it. */
const judgedPlace = ({ parent }: AgentExecutionSpec): string =>
  JSON.stringify([parent?.uid, parent?.state, parent?.visit, parent?.judge]);

/** Which visit it is for. */
const visitPlace = ({ parent }: ToolCallSpec): string => JSON.stringify([parent.uid, parent.state, parent.visit]);

async function make<T extends KubeObject>(
  deps: MakeDeps,
  parent: WorkflowExecution,
  cache: Pick<CacheReader<T>, 'remember'>,
  child: Named<T>,
): Promise<void> {
  const made = await deps.quota.create(quotaWish(parent, child.resource), () => createNamed(deps, parent, child));
  if (made === undefined) return;
  cache.remember(made);
  deps.onChildMade(parent.metadata.uid ?? '', child.name, made.metadata.uid ?? '');
}

/** The execution that the end of this one starts. Only our accounts write the label of a stimulus. */
export async function createLinked(
  deps: MakeDeps,
  execution: WorkflowExecution,
  { plan }: ActionOf<'create_linked'>,
): Promise<void> {
  const isOurs = ({ metadata }: KubeObject): boolean =>
    metadata.labels?.[labels.stimulus] === plan.labels?.[labels.stimulus];
  const made = await deps.quota.create(quotaWish(execution, workflowExecutions), () =>
    deps.own(deps.kube, workflowExecutions, buildExecution(plan), isOurs),
  );
  const { uid = '' } = execution.metadata;
  if (made.kind === 'foreign') deps.onLinkedMade(uid, plan.name, takenUid);
  if (made.kind === 'foreign' || made.object === undefined) return;
  deps.executions.remember(made.object);
  deps.onLinkedMade(uid, plan.name, made.object.metadata.uid ?? '');
}

type Cancellation = ActionOf<'cancel_child' | 'cancel_agent' | 'cancel_tool_call'>;

export const cancelChild = (deps: ChildDeps, parent: WorkflowExecution, action: ActionOf<'cancel_child'>) =>
  cancel(deps, parent, { resource: workflowExecutions, cache: deps.executions, action });

export const cancelAgent = (deps: ChildDeps, parent: WorkflowExecution, action: ActionOf<'cancel_agent'>) =>
  cancel(deps, parent, { resource: agentExecutions, cache: deps.agents, action });

export const cancelToolCall = (deps: ChildDeps, parent: WorkflowExecution, action: ActionOf<'cancel_tool_call'>) =>
  cancel(deps, parent, { resource: toolCalls, cache: deps.toolCalls, action });

interface Cancelled<T extends KubeObject> {
  readonly resource: Resource<T>;
  readonly cache: Pick<CacheReader<T>, 'remember'>;
  readonly action: Cancellation;
}

async function cancel<T extends KubeObject>(
  { kube, identity, now }: ChildDeps,
  { metadata: { namespace = '' } }: WorkflowExecution,
  { resource, cache, action: { name, uid, reason } }: Cancelled<T>,
): Promise<void> {
  const cancelled = kube.jsonPatch(resource, { name, namespace }, [
    { op: 'test', path: '/metadata/uid', value: uid },
    { op: 'add', path: '/spec/cancel', value: { by: identity, at: new Date(now()).toISOString(), reason } },
  ]);
  await unlessChanged(cancelled.then((known) => cache.remember(known))).catch((error: unknown) => {
    if (!isCancelledBefore(error)) throw error;
  });
}

/** An object that is always deleted with the execution: of such a kind only the controllers make one for a visit. */
const ownedObject = <Kind extends string, Spec>(
  parent: WorkflowExecution,
  kind: Kind,
  { name, spec }: { readonly name: string; readonly spec: Spec },
): KubernetesObject<Kind, Spec, never> => ({
  apiVersion,
  kind,
  metadata: {
    name,
    ...(parent.metadata.namespace === undefined ? {} : { namespace: parent.metadata.namespace }),
    labels: childLabels(parent),
    annotations: inheritedLineage(parent),
    ownerReferences: [ownerReference(parent)],
  },
  spec,
});

/** The reference that makes an object go with the execution. */
const ownerReference = ({ metadata: { name, uid = '' } }: WorkflowExecution) => ({
  apiVersion,
  kind: 'WorkflowExecution',
  name,
  uid,
  controller: true,
});

/** Labels of what an execution starts. */
const childLabels = ({ metadata: { uid = '' } }: WorkflowExecution): Record<string, string> => ({
  [labels.parentUid]: uid,
  [labels.managedBy]: 'windlass',
});

function childObject(
  parent: WorkflowExecution,
  { name, spec, owned }: Pick<ActionOf<'create_child'>, 'name' | 'spec' | 'owned'>,
): WorkflowExecution {
  const { workflow: reference, version, ...fields } = spec;
  return buildExecution({
    name,
    namespace: parent.metadata.namespace,
    workflow: { reference, version },
    spec: fields,
    labels: childLabels(parent),
    annotations: { ...inheritedLink(parent), ...inheritedLineage(parent) },
    owner: owned ? ownerReference(parent) : undefined,
  });
}
