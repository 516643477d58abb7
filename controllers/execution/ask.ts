import { labels } from '../../crds/labels.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { Clock } from '../../lib/clock.ts';
import { agentExecutions, toolCalls, volumes, workflowExecutions } from '../../lib/kinds.ts';
import { findObject, type KubeClient, type KubeObject, pods, type Resource } from '../../lib/kube/index.ts';
import { findMade } from './create-named.ts';
import type { AgentFact, ChildFact, Facts, Made, PodFact, ToolCallFact } from './engine/facts.ts';
import { madeKey } from './engine/rest-on.ts';
import { type Caches, observeChild, type ObserveDeps, podFact } from './observe.ts';
import { observeAgent } from './observe-agents.ts';
import { observeToolCall } from './observe-tool-calls.ts';
import { awaitedVolumes, rememberVolume } from './remember-volumes.ts';

export interface AskDeps {
  readonly caches: Caches;
  readonly kube: Pick<KubeClient, 'get' | 'list' | 'listAll'>;
  readonly observe: Pick<ObserveDeps, 'outcomeOf' | 'noteOf'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Called where an execution waits for a workflow that is not there or not accepted, or for the key of a volume. */
  readonly onWaiting: (key: string, awaited: string) => void;
}

/** Objects of an execution as they become known; pods by name, for there is one of a name, the others by uid. */
export interface Found {
  readonly asked: Set<string>;
  readonly pods: Map<string, PodFact>;
  readonly children: Map<string, ChildFact>;
  readonly agents: Map<string, AgentFact>;
  readonly toolCalls: Map<string, ToolCallFact>;
  volumes: Facts['volumes'];
}

/**
 * Reads an object as the API server has it, for no verdict may rest on a cache that is behind. One that is gone stays what
 * it was: its watch event is on the way.
 */
export async function ask(deps: AskDeps, facts: Facts, made: Made, found: Found): Promise<void> {
  await askOf[made.of](deps, facts, made as never, found);
  found.asked.add(madeKey(made));
}

type Asker<K extends Made['of']> = (
  deps: AskDeps,
  facts: Facts,
  made: Extract<Made, { of: K }>,
  found: Found,
) => Promise<void>;

/** A kind without an asker fails to compile. */
const askOf: { readonly [K in Made['of']]: Asker<K> } = {
  async pod({ caches, kube, observe, clock }, { execution: { metadata } }, { name }, found) {
    const pod = await findObject(kube, pods, { name, namespace: metadata.namespace });
    if (pod === undefined || pod.metadata.labels?.[labels.executionUid] !== metadata.uid) return;
    caches.pods.remember(pod);
    for (const fact of podFact(observe, pod, clock.now())) found.pods.set(name, fact);
  },
  async volume(deps, facts, { name }, found) {
    const volume = await findObject(deps.kube, volumes, { name, namespace: facts.execution.metadata.namespace });
    if (volume !== undefined) deps.caches.volumes.remember(volume);
    lookAgain(deps, facts, found);
  },
  async volume_of_uid(deps, facts, { name: uid }, found) {
    await rememberVolume(deps, facts.execution.metadata.namespace ?? '', uid);
    lookAgain(deps, facts, found);
  },
  async child({ caches, kube }, { execution }, made, { children }) {
    const child = await findOf(kube, execution, workflowExecutions, made);
    if (child === undefined) return;
    caches.executions.remember(child);
    children.set(child.metadata.uid ?? '', observeChild(child));
  },
  async agent({ caches, kube }, { execution }, made, { agents }) {
    const agent = await findOf(kube, execution, agentExecutions, made);
    if (agent === undefined) return;
    caches.agents.remember(agent);
    for (const fact of observeAgent(agent)) agents.set(fact.uid, fact);
  },
  async tool_call({ caches, kube }, { execution }, made, found) {
    const call = await findOf(kube, execution, toolCalls, made);
    if (call === undefined) return;
    caches.toolCalls.remember(call);
    found.toolCalls.set(call.metadata.uid ?? '', observeToolCall(call));
  },
};

function lookAgain(deps: AskDeps, { execution, workflow }: Facts, found: Found): void {
  if (workflow.kind === 'found') found.volumes = awaitedVolumes(deps, execution, workflow.definition);
}

interface MadeByVisit extends KubeObject {
  readonly spec: {
    readonly parent?: { readonly uid: string; readonly state: string; readonly visit: number; readonly judge?: number };
  };
}

/** Only our own accounts write `spec.parent`. */
const findOf = <T extends MadeByVisit>(
  kube: AskDeps['kube'],
  execution: WorkflowExecution,
  resource: Resource<T>,
  { name, by }: Extract<Made, { readonly by: unknown }>,
): Promise<T | undefined> => {
  const isOurs = ({ spec: { parent } }: T): boolean =>
    parent?.uid === execution.metadata.uid &&
    parent?.state === by.state &&
    parent.visit === by.visit &&
    parent.judge === by.judge;
  return findMade(kube, execution, { resource, name, isOurs });
};
