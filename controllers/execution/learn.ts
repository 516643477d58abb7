import type { AgentExecution } from '../../crds/schema/agent-execution.ts';
import type { Json } from '../../crds/schema/parts.ts';
import type { ToolCall } from '../../crds/schema/tool-call.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { AppError } from '../../lib/errors.ts';
import type { Informer } from '../../lib/informer/index.ts';
import { isMissingKind } from '../../lib/kube/index.ts';
import { type BlobLocator, parseLocator } from '../../lib/output-store/blob.ts';
import { valueOf } from '../../lib/output-store/blob-value.ts';
import type { OutputStore } from '../../lib/output-store/output-store.ts';
import type { TurnGate } from '../runtime/turn-gate.ts';
import { type AskDeps, ask, type Found } from './ask.ts';
import type { Need } from './engine/decision.ts';
import type { AgentFact, ChildFact, Facts, ToolCallFact, VolumeFact } from './engine/facts.ts';
import type { FindWorkflow } from './find-workflow.ts';
import { volumeFact, wholeChild } from './observe.ts';
import { wholeAgent } from './observe-agents.ts';
import { wholeToolCall } from './observe-tool-calls.ts';
import { rememberVolume } from './remember-volumes.ts';
import { tellWaiting } from './waiting.ts';

export interface LearnDeps extends AskDeps {
  /** Executions in full: the cache has of each only what wakes it. */
  readonly wholes: Pick<Informer<WorkflowExecution>, 'whole' | 'use' | 'weight'>;
  /** AgentExecutions in full. */
  readonly wholeAgents: Pick<Informer<AgentExecution>, 'whole'>;
  /** ToolCalls in full. */
  readonly wholeToolCalls: Pick<Informer<ToolCall>, 'whole'>;
  readonly findWorkflow: FindWorkflow;
  readonly store: Pick<OutputStore, 'get'>;
  /** Gives the reading of each stored value a turn of the event loop of its own. */
  readonly turns: TurnGate;
}

/** The facts with those that deciding turned out to need. */
export async function learn(deps: LearnDeps, facts: Facts, needs: readonly Need[]): Promise<Facts> {
  const known: Learned = {
    workflows: new Map(facts.workflows),
    loaded: new Map(facts.loaded),
    unreadable: new Map(facts.unreadable),
    asked: new Set(facts.asked),
    pods: new Map(facts.pods.map((pod) => [pod.name, pod])),
    volumes: facts.volumes,
    children: new Map(facts.children.map((child) => [child.uid, child])),
    agents: new Map(facts.agents?.map((agent) => [agent.uid, agent])),
    toolCalls: new Map(facts.toolCalls?.map((call) => [call.uid, call])),
    volumesByUid: new Map(facts.volumesByUid),
  };
  await Promise.all(needs.map((need) => learnOne(deps, facts, need, known)));
  return {
    ...facts,
    ...known,
    pods: [...known.pods.values()],
    children: [...known.children.values()],
    agents: [...known.agents.values()],
    toolCalls: [...known.toolCalls.values()],
  };
}

interface Learned extends Found {
  readonly workflows: Map<string, Awaited<ReturnType<FindWorkflow['current']>>>;
  readonly loaded: Map<string, Json>;
  readonly unreadable: Map<string, string>;
}

type Learner<K extends Need['kind']> = (
  deps: LearnDeps,
  facts: Facts,
  need: Extract<Need, { kind: K }>,
  known: Learned,
) => Promise<void>;

/** A need without a learner fails to compile. */
const learners: { readonly [K in Need['kind']]: Learner<K> } = {
  async blob(deps, facts, { locator }, known) {
    const value = await load(deps, namespaceOf(facts), parseLocator(locator));
    if ('lost' in value) known.unreadable.set(locator, value.lost);
    else known.loaded.set(locator, value.json);
  },
  async child(deps, _facts, { uid }, known) {
    const child = known.children.get(uid);
    if (child !== undefined) known.children.set(uid, await childInFull(deps, child));
  },
  async agent(deps, _facts, { uid }, known) {
    const agent = known.agents.get(uid);
    if (agent !== undefined) known.agents.set(uid, await agentInFull(deps, agent));
  },
  async tool_call(deps, _facts, { uid }, known) {
    const call = known.toolCalls.get(uid);
    if (call !== undefined) known.toolCalls.set(uid, await toolCallInFull(deps, call));
  },
  made: (deps, facts, { made }, known) => ask(deps, facts, made, known),
  async volume(deps, facts, { uid }, known) {
    known.volumesByUid.set(uid, await volumeByUid(deps, namespaceOf(facts), uid));
  },
  async workflow(deps, facts, { workflow }, known) {
    const user = facts.workflow.kind === 'found' ? facts.workflow.definition.user : undefined;
    const lookup = await deps.findWorkflow.current({ namespace: namespaceOf(facts), workflow, user });
    if (lookup.kind === 'not_ready') tellWaiting(deps, facts.execution, workflow);
    known.workflows.set(workflow, lookup);
  },
};

function learnOne(deps: LearnDeps, facts: Facts, need: Need, known: Learned): Promise<void> {
  // The kind picks learner and need together, which the type system cannot see through a union.
  const learner = learners[need.kind] as (deps: LearnDeps, facts: Facts, need: Need, known: Learned) => Promise<void>;
  return learner(deps, facts, need, known);
}

const namespaceOf = ({ execution }: Facts): string => execution.metadata.namespace ?? '';

const deleted = { reason: 'Deleted', message: 'it was deleted before its result was read' };

/** One that was deleted since it ended has no result any more, and another one would do its work twice. */
async function childInFull({ caches, wholes }: LearnDeps, child: ChildFact): Promise<ChildFact> {
  const cached = caches.executions.getByUid(child.uid);
  const whole = cached && (await wholes.whole(cached));
  if (whole !== undefined) return wholeChild(whole);
  return { ...child, isSlim: false, phase: 'failed', failure: deleted };
}

async function agentInFull({ caches, wholeAgents }: LearnDeps, agent: AgentFact): Promise<AgentFact> {
  const cached = caches.agents.getByUid(agent.uid);
  const whole = cached && (await wholeAgents.whole(cached));
  const fact = whole && wholeAgent(whole);
  if (fact !== undefined) return fact;
  return { ...agent, output: '', phase: 'failed', why: deleted };
}

async function toolCallInFull({ caches, wholeToolCalls }: LearnDeps, call: ToolCallFact): Promise<ToolCallFact> {
  const cached = caches.toolCalls.getByUid(call.uid);
  const whole = cached && (await wholeToolCalls.whole(cached));
  if (whole !== undefined) return wholeToolCall(whole);
  const answer = { content: '', truncated: false };
  return { ...call, answer, phase: 'failed', why: { ...deleted, reason: 'OutcomeUnknown' } };
}

/** A volume that was made a moment ago may not have reached the cache. */
async function volumeByUid(deps: LearnDeps, namespace: string, uid: string): Promise<VolumeFact | undefined> {
  const cached = deps.caches.volumes.getByUid(uid);
  if (cached !== undefined) return cached.metadata.namespace === namespace ? volumeFact(cached) : undefined;
  const found = await rememberVolume(deps, namespace, uid);
  return found && volumeFact(found);
}

type Loaded = { readonly json: Json } | { readonly lost: string };

async function load({ store, turns }: LearnDeps, namespace: string, locator: BlobLocator): Promise<Loaded> {
  try {
    const data = await store.get(namespace, locator);
    await turns.enter(namespace);
    return { json: valueOf(data, locator) };
  } catch (error) {
    // A user has deleted it, and trying again would not bring it back. A store that is away is another matter, as is a 404
    // that is no answer about the object.
    if (error instanceof AppError && error.code === 'not_found' && !isMissingKind(error))
      return { lost: error.message };
    throw error;
  }
}
