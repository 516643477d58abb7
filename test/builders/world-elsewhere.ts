import type { Action } from '../../controllers/execution/engine/decision.ts';
import type { AgentFact, Blockage, ToolCallFact } from '../../controllers/execution/engine/facts.ts';
import type { AgentExecutionSpec } from '../../crds/schema/agent-execution.ts';
import type { ToolCallSpec } from '../../crds/schema/tool-call.ts';

/** Work of other processes. */
export type ActionElsewhere = Extract<Action, { kind: `${'create' | 'cancel'}_${'agent' | 'tool_call'}` }>;

export const isElsewhere = (action: Action): action is ActionElsewhere =>
  ['create_agent', 'cancel_agent', 'create_tool_call', 'cancel_tool_call'].includes(action.kind);

/** The world around agents and tool calls at this moment. */
interface Around {
  readonly now: number;
  /** Why the API server makes no object now. */
  readonly blocked: Blockage | undefined;
  /** Whether new agents run at once. */
  readonly agentsStart: boolean;
}

interface WorldAgent extends AgentFact {
  readonly spec: AgentExecutionSpec;
}

/** Agents of one execution by name; what they say is read when it is asked for. */
export class WorldAgents extends Map<string, WorldAgent> {
  readonly #around: Around;

  constructor(around: Around) {
    super();
    this.#around = around;
  }

  create(name: string, spec: AgentExecutionSpec): void {
    const { now, blocked, agentsStart } = this.#around;
    if (this.has(name) || blocked !== undefined || spec.parent === undefined) return;
    const begun = agentsStart ? ({ phase: 'running', startedAt: now } as const) : ({ phase: 'pending' } as const);
    const { state, visit, judge } = spec.parent;
    const fact = { name, uid: `uid-${name}`, madeBy: { state, visit, judge }, cancelled: false, spec };
    this.set(name, { ...fact, ...begun });
  }

  cancel(name: string): void {
    const agent = this.get(name);
    if (agent !== undefined) this.set(name, { ...agent, cancelled: true });
  }

  /** The agent of a state, or of one of its judges, that was started last. */
  of(state: string, judge?: number): WorldAgent {
    const found = [...this.values()].findLast(({ madeBy }) => madeBy.state === state && madeBy.judge === judge);
    if (found === undefined) throw new Error(`no agent of ${state} ${judge ?? ''} was started`);
    return found;
  }

  change(state: string, judge: number | undefined, fields: Partial<AgentFact>): void {
    const agent = this.of(state, judge);
    this.set(agent.name, { ...agent, ...fields });
  }
}

interface WorldToolCall extends ToolCallFact {
  readonly spec: ToolCallSpec;
}

/** Tool calls of one execution by name; their answers are read when they are asked for. */
export class WorldToolCalls extends Map<string, WorldToolCall> {
  readonly #around: Around;

  constructor(around: Around) {
    super();
    this.#around = around;
  }

  create(name: string, spec: ToolCallSpec): void {
    if (this.has(name) || this.#around.blocked !== undefined) return;
    const { tool, parent } = spec;
    const fact = { name, uid: `uid-${name}`, madeBy: parent, tool, cancelled: false, spec };
    this.set(name, { ...fact, phase: 'pending' });
  }

  /** Changes the call of a name, by default the last one. */
  change(fields: Partial<ToolCallFact>, name = [...this.keys()].at(-1) ?? ''): void {
    const call = this.get(name);
    if (call === undefined) throw new Error(`no tool call ${name} was made`);
    this.set(name, { ...call, ...fields });
  }
}
