import { labels } from '../../crds/labels.ts';
import type { Volume } from '../../crds/schema/volume.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { Clock } from '../../lib/clock.ts';
import type { CacheReader } from '../../lib/informer/cache.ts';
import { agentExecutions, toolCalls, volumes, workflowExecutions } from '../../lib/kinds.ts';
import { findObject, type KubeClient, type KubeObject, pods, type Resource } from '../../lib/kube/index.ts';
import { askServer } from '../runtime/ask-server.ts';
import { findMade } from './create-named.ts';
import type { AgentFact, ChildFact, Facts, Made, PodFact, ToolCallFact, VolumeFact } from './engine/facts.ts';
import { madeKey } from './engine/rest-on.ts';
import { type Caches, type ObserveDeps, observeChild, podFact, volumeFact } from './observe.ts';
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
  /** Those that the workflow does not declare. */
  readonly volumesByUid: Map<string, VolumeFact | undefined>;
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
    const { namespace, uid } = metadata;
    const pod = await findObject(kube, pods, { name, namespace });
    if (pod === undefined || pod.metadata.labels?.[labels.executionUid] !== uid) return;
    caches.pods.remember(pod);
    for (const fact of podFact(observe, pod, clock.now())) found.pods.set(name, fact);
  },
  async volume({ kube, caches, onWaiting }, facts, { name }, found) {
    const { namespace } = facts.execution.metadata;
    const volume = await askServer({ kube, resource: volumes, cache: caches.volumes }, { namespace, name });
    lookAgain({ caches, onWaiting }, facts, { volume, found });
  },
  async volume_of_uid(deps, facts, { name: uid }, found) {
    const volume = await rememberVolume(deps, facts.execution.metadata.namespace ?? '', uid);
    lookAgain(deps, facts, { volume, found });
  },
  child: askerOf({
    resource: workflowExecutions,
    cacheOf: ({ executions }) => executions,
    observe: (child) => [observeChild(child)],
    known: ({ children }) => children,
  }),
  agent: askerOf({
    resource: agentExecutions,
    cacheOf: ({ agents }) => agents,
    observe: observeAgent,
    known: ({ agents }) => agents,
  }),
  tool_call: askerOf({
    resource: toolCalls,
    cacheOf: (caches) => caches.toolCalls,
    observe: (call) => [observeToolCall(call)],
    known: (found) => found.toolCalls,
  }),
};

type MadeOfVisit = Extract<Made, { readonly by: unknown }>;

/** A kind of which a visit makes objects, and their facts. */
interface Visited<T extends MadeByVisit, F extends { readonly uid: string }> {
  readonly resource: Resource<T>;
  readonly cacheOf: (caches: Caches) => Pick<CacheReader<T>, 'remember'>;
  readonly observe: (object: T) => readonly F[];
  readonly known: (found: Found) => Map<string, F>;
}

function askerOf<T extends MadeByVisit, F extends { readonly uid: string }>({
  resource,
  cacheOf,
  observe,
  known,
}: Visited<T, F>) {
  return async ({ caches, kube }: AskDeps, { execution }: Facts, made: MadeOfVisit, found: Found): Promise<void> => {
    const object = await findOf(kube, execution, resource, made);
    if (object === undefined) return;
    cacheOf(caches).remember(object);
    for (const fact of observe(object)) known(found).set(fact.uid, fact);
  };
}

interface Seen {
  /** Undefined: the server has none. */
  readonly volume: Volume | undefined;
  readonly found: Found;
}

function lookAgain(
  deps: Pick<AskDeps, 'caches' | 'onWaiting'>,
  { execution, workflow }: Facts,
  { volume, found }: Seen,
): void {
  if (workflow.kind === 'found') found.volumes = awaitedVolumes(deps, execution, workflow.definition);
  const { uid = '' } = volume?.metadata ?? {};
  if (volume !== undefined && found.volumesByUid.has(uid)) found.volumesByUid.set(uid, volumeFact(volume));
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
  { name, by }: MadeOfVisit,
): Promise<T | undefined> => {
  const isOurs = ({ spec: { parent } }: T): boolean =>
    parent?.uid === execution.metadata.uid &&
    parent?.state === by.state &&
    parent.visit === by.visit &&
    parent.judge === by.judge;
  return findMade(kube, execution, { resource, name, isOurs });
};
