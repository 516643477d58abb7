import type { Action, Decision, Happening, Need } from '../../controllers/execution/engine/decision.ts';
import type {
  AgentFact,
  Blockage,
  ChildFact,
  Facts,
  ToolCallFact,
  VolumeFact,
  Waiting,
} from '../../controllers/execution/engine/facts.ts';
import type { StepPlan } from '../../controllers/step-pods/step.ts';
import type { VolumeSpec } from '../../crds/schema/volume.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { Signal, WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { WorkflowExecutionStatus } from '../../crds/schema/workflow-execution-status.ts';
import { open } from '../../lib/output-store/stored-value.ts';
import { anExecution, begin } from './execution-builder.ts';
import { unstorable } from './stored-status.ts';
import { WorldBlobs } from './world-blobs.ts';
import { type LinkPlan, WorldDecider, type WorldOptions } from './world-decider.ts';
import { type ActionElsewhere, isElsewhere, WorldAgents, WorldToolCalls } from './world-elsewhere.ts';
import { type OutcomeFields, WorldPods } from './world-pods.ts';

export type { WorldOptions } from './world-decider.ts';

/**
 * One execution in a world of plain objects: decides, does what was decided, and lets tests say what pods, children,
 * people and the clock do. It plays the part of the cluster for the pure engine alone, and takes no status that the
 * CustomResourceDefinition would refuse or cut.
 */
export class World {
  execution: WorkflowExecution;
  now = begin;
  readonly pods = new WorldPods(this);
  readonly children = new Map<string, ChildFact & { readonly spec: WorkflowExecution['spec'] }>();
  readonly agents = new WorldAgents(this);
  readonly toolCalls = new WorldToolCalls(this);
  /** Whether new agents run at once. */
  agentsStart = true;
  /** Volumes that no workflow declares, by uid. */
  readonly otherVolumes = new Map<string, VolumeFact>();
  /** Fields of objects by their names as a watch has them that is behind; undefined: it does not show the object at all. */
  readonly shown = new Map<string, object | undefined>();
  /** Volumes as they are, by their name in the workflow; tests fill it in. */
  readonly volumes: Record<string, VolumeFact> = {};
  /** Executions under the same root; by default the children. */
  descendants: number | undefined;
  /** Volumes that were asked for. */
  readonly created: VolumeSpec[] = [];
  /** Executions that the end of this one was to start; the API server has those whose names differ. */
  readonly linkPlans: LinkPlan[] = [];
  readonly blobs: WorldBlobs;
  readonly decisions: Decision[] = [];
  readonly happenings: Happening[] = [];
  deleted = false;
  /** The reason for which new pods wait; undefined: they run at once. */
  waiting: Waiting | undefined;
  /** Why the API server makes no pod now. */
  blocked: Blockage | undefined;
  /** The facts of the last decision, with all that it asked for. */
  lastFacts: Facts | undefined;
  readonly #decider: WorldDecider;

  constructor(workflow: Workflow, options: WorldOptions = {}) {
    this.#decider = new WorldDecider(this, workflow.spec, options);
    this.blobs = new WorldBlobs(options.budget);
    const built = anExecution(options.name).with({ workflow: workflow.metadata.name, ...options.spec });
    this.execution = built.build();
    if (options.annotations !== undefined) this.execution.metadata.annotations = options.annotations;
    if (options.status !== undefined) this.execution.status = { phase: 'running', ...options.status };
  }

  get status(): WorkflowExecutionStatus {
    return this.execution.status ?? { phase: 'pending' };
  }

  /** The Blackboard with stored values put back. */
  board(): Record<string, unknown> {
    const { uid = '' } = this.execution.metadata;
    const entries = Object.entries(this.status.blackboard ?? {});
    return Object.fromEntries(entries.map(([key, stored]) => [key, this.blobs.whole(open(stored, uid))]));
  }

  visits(): string[] {
    return (this.status.history ?? []).map(({ state }) => state);
  }

  /** Decides once and does it. */
  step(act: (action: Action) => boolean = () => true): Decision {
    const decision = this.decision();
    this.accept(decision, act);
    return decision;
  }

  /** Makes a decision true. */
  accept(decision: Decision, act: (action: Action) => boolean = () => true): void {
    const problems = unstorable(decision.status);
    if (problems.length > 0) throw new Error(`the API server would not store this status: ${problems.join('; ')}`);
    this.decisions.push(decision);
    this.happenings.push(...decision.happenings);
    this.execution = { ...this.execution, status: structuredClone(decision.status) };
    for (const action of decision.actions) if (act(action)) this.#do(action);
  }

  /** Decides until nothing changes without outside help. */
  settle(): this {
    for (let round = 0; round < 300; round += 1) {
      const { status } = this;
      const decision = this.step();
      const idle = decision.actions.length === 0 || this.blocked !== undefined;
      if (idle && JSON.stringify(decision.status) === JSON.stringify(status)) return this;
    }
    throw new Error('the world does not settle');
  }

  /** The pods that run now, by state or `state/step`. */
  running(): string[] {
    return this.pods.running();
  }

  /** Ends the running pod of a state, or of `state/step`. */
  end(what: string, fields: OutcomeFields = {}): this {
    this.pods.end(what, fields);
    return this;
  }

  /** Deletes the pods of all steps, as a drain does; the capture finalizer holds those that ended. */
  drain(): this {
    this.pods.drain();
    return this;
  }

  /** Lets the container of a pod that has waited begin to run. */
  begin(what: string): this {
    this.pods.begin(what);
    return this;
  }

  planOf(what: string): StepPlan {
    return this.pods.runningOf(what).plan;
  }

  signal(state: string, response: string, fields: Partial<Signal> = {}): this {
    const signals = this.execution.spec.signals ?? [];
    const signal = {
      id: `s${signals.length}`,
      state,
      response,
      by: 'ann',
      at: new Date(this.now).toISOString(),
      ...fields,
    };
    this.execution = { ...this.execution, spec: { ...this.execution.spec, signals: [...signals, signal] } };
    return this;
  }

  cancel(reason?: string): this {
    const cancel = { by: 'ann', at: new Date(this.now).toISOString(), ...(reason === undefined ? {} : { reason }) };
    this.execution = { ...this.execution, spec: { ...this.execution.spec, cancel } };
    return this;
  }

  endChild(fields: Partial<ChildFact>): this {
    for (const [name, child] of this.children) this.children.set(name, { ...child, ...fields });
    return this;
  }

  /** The agent of a state, or of one of its judges, that was started last. */
  agentOf(state: string, judge?: number) {
    return this.agents.of(state, judge);
  }

  /** Changes the agent of a state, or of one of its judges. */
  changeAgent(state: string, judge: number | undefined, fields: Partial<AgentFact>): this {
    this.agents.change(state, judge, fields);
    return this;
  }

  /** Ends an agent; by default it completes without a word. */
  endAgent(state: string, judge: number | undefined, fields: Partial<AgentFact> = {}): this {
    return this.changeAgent(state, judge, { phase: 'completed', output: '', endedAt: this.now, ...fields });
  }

  /** Changes the tool call of a name, by default the last one. */
  changeToolCall(fields: Partial<ToolCallFact>, name?: string): this {
    this.toolCalls.change(fields, name);
    return this;
  }

  /** Ends the last tool call; by default it completes without a word. */
  endToolCall(fields: Partial<ToolCallFact> = {}): this {
    const answer = { content: '', truncated: false };
    return this.changeToolCall({ phase: 'completed', startedAt: this.now, endedAt: this.now, answer, ...fields });
  }

  /** Advances time. Pods that get a signal end with exit code 143. */
  pass(ms: number): this {
    this.now += ms;
    return this;
  }

  /** Advances to the time at which the last decision asked to look again. */
  wake(): this {
    const at = this.decisions.at(-1)?.wakeAt;
    if (at === undefined) throw new Error('nothing asked to be woken');
    this.now = Math.max(this.now, at);
    return this;
  }

  facts(extra: Partial<Facts> = {}): Facts {
    return this.#decider.facts(extra);
  }

  /** The decision of now, with stored values loaded on demand; its blobs are stored. */
  decision(extra: Partial<Facts> = {}): Decision {
    return this.#decider.decision(extra);
  }

  /** The facts with those that deciding turned out to need. */
  learn(facts: Facts, needs: readonly Need[]): Facts {
    return this.#decider.learn(facts, needs);
  }

  /** The workflow of a name. */
  find(name: string) {
    return this.#decider.find(name);
  }

  #do(action: Action): void {
    if (isElsewhere(action)) return this.#doElsewhere(action);
    switch (action.kind) {
      case 'create_pod':
        return this.pods.create(action.slot, action.plan);
      case 'stop_pod':
        return this.pods.stop(action.name);
      case 'release_pod':
        return this.pods.release(action.name, action.stop !== undefined);
      case 'create_child':
        return this.#createChild(action.name, action.spec, action.owned);
      case 'create_linked':
        if (this.blocked === undefined) this.linkPlans.push(action.plan);
        return undefined;
      case 'cancel_child':
        return void this.endChild({ cancelled: true });
      case 'create_volume':
        this.created.push(action.spec);
        return undefined;
      case 'follow_pod':
      case 'archive_execution':
      case 'hold_execution':
      case 'let_execution_go':
        return undefined;
      case 'delete_execution':
        this.deleted = true;
    }
  }

  #doElsewhere(action: ActionElsewhere): void {
    switch (action.kind) {
      case 'create_agent':
        return this.agents.create(action.name, action.spec);
      case 'cancel_agent':
        return this.agents.cancel(action.name);
      case 'create_tool_call':
        return this.toolCalls.create(action.name, action.spec);
      case 'cancel_tool_call':
        return this.toolCalls.change({ cancelled: true }, action.name);
    }
  }

  #createChild(name: string, spec: WorkflowExecution['spec'], owned: boolean): void {
    if (this.children.has(name)) return;
    const fact = {
      name,
      uid: `uid-${name}`,
      phase: 'running',
      cancelled: false,
      owned,
      result: null,
      blackboard: {},
      spec,
    } as const;
    this.children.set(name, fact);
  }
}
