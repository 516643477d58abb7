import { decide } from '../../controllers/execution/engine/decide.ts';
import type { Action, Decision, Need } from '../../controllers/execution/engine/decision.ts';
import type {
  AgentFact,
  ChildFact,
  Facts,
  PodFact,
  ToolCallFact,
  VolumeFact,
} from '../../controllers/execution/engine/facts.ts';
import { podName } from '../../controllers/execution/engine/names.ts';
import { bareFailure, refuse } from '../../controllers/execution/engine/refusal.ts';
import { statusProblem } from '../../controllers/execution/engine/status-problem.ts';
import type { StepPlan } from '../../controllers/step-pods/step.ts';
import { apiVersion } from '../../crds/labels.ts';
import type { Json } from '../../crds/schema/parts.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution, WorkflowExecutionSpec } from '../../crds/schema/workflow-execution.ts';
import type { WorkflowExecutionStatus } from '../../crds/schema/workflow-execution-status.ts';
import { defined } from '../../lib/defined.ts';
import { isTerminal, succeeded } from '../../lib/execution/finished.ts';
import { open } from '../../lib/output-store/stored-value.ts';
import type { PodSlot } from '../../lib/pod-slot.ts';
import type { AnswerTo } from './answer.ts';
import { definitionOf, lookUp, namespace } from './definitions.ts';
import { agentEnd, commandEnd, commandMs, toolEnd } from './ends.ts';
import { StoredValues } from './stored-values.ts';

export interface SimulationOptions {
  readonly workflow: Workflow;
  /** Workflows that Subworkflow states may name; others are answered for. */
  readonly others: readonly Workflow[];
  readonly start: Pick<WorkflowExecutionSpec, 'input' | 'intent' | 'blackboard'>;
  readonly answer: AnswerTo;
}

/** Templates of one state as they were rendered. */
export interface RenderedState {
  readonly state: string;
  readonly visit: number;
  readonly step?: string | undefined;
  readonly command?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly prompt?: string;
  readonly intent?: string;
  readonly input?: Json;
}

/** Outcome of an execution that no cluster has seen. */
export interface Simulated {
  readonly status: WorkflowExecutionStatus;
  readonly finalOutput: Json;
  readonly renderings: readonly RenderedState[];
}

/** A person was asked, and there is neither an answer nor a timeout. */
export class Unanswered extends Error {
  readonly state: string;
  readonly responses: readonly string[];

  constructor(state: string, responses: readonly string[]) {
    super(`state '${state}' waits for an answer`);
    this.state = state;
    this.responses = responses;
  }
}

/** Decisions of one run: a workflow takes at most 100 transitions, each some decisions. */
const decisionsMax = 20_000;
/** Rounds of one decision, each with more facts: as many as the controllers take. */
const roundsMax = 1_000;
const begun = Date.parse('2026-01-01T00:00:00Z');
const identity = { name: 'simulation', namespace, uid: '00000000-0000-4000-8000-000000000000' } as const;
const depthMax = 10;

/**
 * Runs a workflow by the engine of the controllers (`decide`), with answers in place of pods, people, children and agents, and time
 * that passes at once. Pure but for the answers. Throws Unanswered.
 */
export function simulate(options: SimulationOptions, depth = 0): Simulated {
  return new Simulation(options, depth).run();
}

class Simulation {
  readonly #options: SimulationOptions;
  readonly #depth: number;
  readonly #pods = new Map<string, PodFact>();
  readonly #children = new Map<string, ChildFact>();
  readonly #agents = new Map<string, AgentFact>();
  readonly #toolCalls = new Map<string, ToolCallFact>();
  readonly #values = new StoredValues();
  readonly #renderings: RenderedState[] = [];
  readonly #volumes: Record<string, VolumeFact>;
  readonly #volumesByUid = new Map<string, VolumeFact>();
  #execution: WorkflowExecution;
  #now = begun;
  /** Visits of Human states that were asked for. */
  readonly #asked = new Set<string>();

  constructor(options: SimulationOptions, depth: number) {
    this.#options = options;
    this.#depth = depth;
    const { workflow, start } = options;
    const metadata = { ...identity, creationTimestamp: new Date(begun).toISOString() };
    const spec = { workflow: workflow.metadata.name, ...start };
    this.#execution = { apiVersion, kind: 'WorkflowExecution', metadata, spec };
    const { workspace, shared_volumes: shared = [] } = workflow.spec.storage ?? {};
    const names = [...(workspace === undefined ? [] : ['workspace']), ...shared.map(({ name }) => name)];
    this.#volumes = Object.fromEntries(
      names.map((volume) => [volume, { volume, phase: 'ready', claim: `claim-of-${volume}` } as const]),
    );
  }

  run(): Simulated {
    for (let count = 0; count < decisionsMax; count++) {
      const before = JSON.stringify(this.#status);
      const decision = this.#decision();
      this.#execution = { ...this.#execution, status: structuredClone(decision.status) };
      if (isTerminal(this.#status)) return this.#result();
      for (const action of decision.actions) this.#do(action);
      const isIdle = decision.actions.length === 0 && JSON.stringify(this.#status) === before;
      if (!this.#askPerson() && isIdle) this.#wait(decision);
    }
    throw new Error('the simulation does not come to an end');
  }

  get #status(): WorkflowExecutionStatus {
    return this.#execution.status ?? { phase: 'pending' };
  }

  #result(): Simulated {
    const { final_output: inline, final_output_ref: ref } = this.#status;
    const whole = ref === undefined ? (inline ?? null) : this.#values.whole(open({ refs: [ref] }, identity.uid));
    return { status: this.#status, finalOutput: whole as Json, renderings: this.#renderings };
  }

  #wait({ wakeAt }: Decision): void {
    if (wakeAt === undefined) throw new Error('the simulation waits for something that never comes');
    this.#now = Math.max(this.#now + 1, wakeAt);
  }

  /** Whether an answer was given just now. */
  #askPerson(): boolean {
    const { current } = this.#status;
    if (current?.kind !== 'Human' || this.#asked.has(`${current.state}#${current.visit}`)) return false;
    const { state, visit, answers: responses = [], deadline, prompt = '' } = current;
    this.#asked.add(`${state}#${visit}`);
    this.#renderings.push({ state, visit, prompt });
    const hasTimeout = deadline !== undefined;
    const answer = this.#options.answer({ kind: 'person', state, visit, responses, hasTimeout });
    if (answer?.response !== undefined) this.#signal(state, answer.response);
    else if (!hasTimeout) throw new Unanswered(state, responses);
    return answer?.response !== undefined;
  }

  #signal(state: string, response: string): void {
    this.#now += commandMs;
    const { spec } = this.#execution;
    const { signals = [] } = spec;
    const at = new Date(this.#now).toISOString();
    const signal = { id: `answer-${signals.length + 1}`, state, response, by: 'simulation', at };
    this.#execution = { ...this.#execution, spec: { ...spec, signals: [...signals, signal] } };
  }

  #facts(): Facts {
    const { workflow } = this.#options;
    return {
      execution: this.#execution,
      workflow: { kind: 'found', definition: definitionOf(workflow) },
      workflows: new Map(),
      pods: [...this.#pods.values()],
      children: [...this.#children.values()],
      agents: [...this.#agents.values()],
      toolCalls: [...this.#toolCalls.values()],
      volumesByUid: this.#volumesByUid,
      volumes: this.#volumes,
      descendants: this.#children.size,
      loaded: new Map(),
      settings: { executionTtlSeconds: 86_400, archiveGraceSeconds: 0 },
    };
  }

  /** As the controllers decide: with what deciding turned out to need, and harder where a status cannot be stored. */
  #decision(): Decision {
    let facts = this.#facts();
    for (let round = 0; round < roundsMax; round++) {
      const result = decide(facts, this.#now);
      if (result.kind === 'needs') {
        facts = this.#learn(facts, result.needs);
        continue;
      }
      const failure = result.kind === 'exceeded' ? result.failure : statusProblem(result.status);
      if (result.kind === 'decision' && failure === undefined) {
        this.#values.keep(result.blobs);
        return result;
      }
      if (failure === undefined) continue;
      const harder = refuse(facts, failure, result.kind === 'exceeded' && result.alone);
      if (harder === undefined) return bareFailure(facts, failure, this.#now);
      facts = harder;
    }
    throw new Error(`deciding asked for more facts ${roundsMax} times; report this workflow as a defect`);
  }

  #learn(facts: Facts, needs: readonly Need[]): Facts {
    const loaded = new Map(facts.loaded);
    const workflows = new Map(facts.workflows);
    for (const need of needs) {
      if (need.kind === 'blob') loaded.set(need.locator, this.#values.load(need.locator));
      if (need.kind === 'workflow') workflows.set(need.workflow, lookUp(this.#known(need.workflow), need.workflow));
      if (need.kind === 'volume')
        this.#volumesByUid.set(need.uid, { volume: need.uid, phase: 'ready', claim: need.uid });
    }
    return { ...facts, loaded, workflows, volumesByUid: this.#volumesByUid };
  }

  #known(name: string): Workflow | undefined {
    return this.#options.others.find(({ metadata }) => metadata.name === name);
  }

  #do(action: Action): void {
    if (action.kind === 'create_pod') this.#runPod(action.slot, action.plan);
    if (action.kind === 'create_child') this.#runChild(action);
    if (action.kind === 'create_agent') this.#runAgent(action);
    if (action.kind === 'create_tool_call') this.#callTool(action);
    if (action.kind === 'stop_pod') this.#change(action.name, { deleting: true, ended: true, endedAt: this.#now });
    if (action.kind === 'release_pod') this.#change(action.name, { held: false, ended: true });
  }

  #change(name: string, fields: Partial<PodFact>): void {
    const pod = this.#pods.get(name);
    if (pod !== undefined) this.#pods.set(name, { ...pod, ...fields });
  }

  /** The command has ended as soon as it is begun. */
  #runPod(slot: PodSlot, plan: StepPlan): void {
    const name = podName(this.#execution, slot);
    if (this.#pods.has(name)) return;
    const { state, visit, attempt, step } = slot;
    this.#renderings.push({ state, visit, step, command: plan.argv, env: plan.env });
    const answer = this.#options.answer({ kind: 'command', state, step, visit, attempt });
    const outcome = commandEnd(answer);
    const begunAt = this.#now;
    const fact = { name, uid: name, slot, held: true, deleting: false, ended: true, lost: false };
    this.#pods.set(name, { ...fact, begunAt, endedAt: begunAt + commandMs, outcome });
    this.#now += 1;
  }

  #runChild({ name, spec, owned }: Extract<Action, { kind: 'create_child' }>): void {
    if (this.#children.has(name)) return;
    const { state = '', current } = this.#status;
    const visit = current?.visit ?? 1;
    this.#renderings.push({ state, visit, input: (spec.input ?? null) as Json });
    const about = { name, uid: `uid-of-${name}`, cancelled: false, owned, startedAt: this.#now };
    this.#children.set(name, { ...about, ...this.#childEnd(spec, { state, visit }) });
  }

  /** The agent has ended as soon as it is begun. */
  #runAgent({ name, spec }: Extract<Action, { kind: 'create_agent' }>): void {
    const { agent, parent, intent, input } = spec;
    if (parent === undefined || this.#agents.has(name)) return;
    const { state, visit, judge } = parent;
    const step = judge === undefined ? undefined : `${judge} (${agent})`;
    this.#renderings.push({ state, visit, step, ...defined({ intent, input }) });
    const answer = this.#options.answer({ kind: 'agent', state, visit, agent, judge });
    const madeBy = { state, visit, judge };
    const times = { startedAt: this.#now, endedAt: this.#now + commandMs };
    this.#agents.set(name, {
      name,
      uid: `uid-of-${name}`,
      madeBy,
      cancelled: false,
      ...times,
      ...agentEnd(answer, judge),
    });
    this.#now += 1;
  }

  /** The tool has answered as soon as it is called, as a command does. */
  #callTool({ name, spec }: Extract<Action, { kind: 'create_tool_call' }>): void {
    if (this.#toolCalls.has(name)) return;
    const { tool, parent } = spec;
    const { state, visit } = parent;
    this.#renderings.push({ state, visit, command: [tool], input: JSON.parse(spec.arguments) as Json });
    const answer = this.#options.answer({ kind: 'command', state, step: undefined, visit, attempt: 1 });
    const times = { startedAt: this.#now, endedAt: this.#now + commandMs };
    const about = { name, uid: `uid-of-${name}`, madeBy: parent, tool, cancelled: false, ...times };
    this.#toolCalls.set(name, { ...about, ...toolEnd(answer) });
    this.#now += 1;
  }

  /** An answer replaces a run of the child. */
  #childEnd(spec: WorkflowExecutionSpec, at: { readonly state: string; readonly visit: number }): ChildEnd {
    const workflow = this.#known(spec.workflow);
    const answer = this.#options.answer({ kind: 'child', ...at, workflow: spec.workflow });
    if (answer === undefined && workflow !== undefined && this.#depth < depthMax) return this.#runOf(workflow, spec);
    return { phase: answer?.status ?? 'completed', result: answer?.result ?? null, blackboard: {} };
  }

  #runOf(workflow: Workflow, { input, intent }: WorkflowExecutionSpec): ChildEnd {
    const { status, finalOutput } = simulate({ ...this.#options, workflow, start: { input, intent } }, this.#depth + 1);
    const { phase, reason = 'Failed', message = '', cause } = status;
    const end = { phase, result: finalOutput, blackboard: {} };
    return succeeded(status) ? end : { ...end, failure: { reason, message, cause } };
  }
}

type ChildEnd = Pick<ChildFact, 'phase' | 'result' | 'blackboard' | 'failure'>;
