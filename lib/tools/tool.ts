import type { AgentSpec } from '../../crds/schema/agent.ts';
import type { SecurityContextSpec } from '../../crds/schema/security-context.ts';

export interface Mount {
  readonly path: string;
  readonly writable: boolean;
  /** Name of the Volume; absent: a folder of the pod. */
  readonly volume?: string;
}

/** Whose call it is, and what bounds it. */
export interface ToolCaller {
  readonly tenant: string;
  readonly namespace: string;
  /** Name of the user or service account that the call acts for. */
  readonly subject: string;
  /** Uid of the execution, of an agent or of a workflow; absent: a caller without one. */
  readonly executionId?: string;
  /** Uid of the ToolCall: what a tool starts is named after it, and started once. Absent: the call has none. */
  readonly callId?: string;
  /** Names the call within its execution, also where another replica makes it again. Absent: it is made once. */
  readonly callKey?: string;
  /** When the execution is over at the latest, RFC 3339; absent: it is not known. */
  readonly deadline?: string | undefined;
  /** The definition that runs; absent: an external caller. */
  readonly agent?: { readonly name: string; readonly uid: string; readonly spec: AgentSpec };
  readonly security: SecurityContextSpec;
  /** For a caller without an agent: scopes of tools of hosts that the maker of its session held. Absent: none. */
  readonly scopes?: readonly string[];
  /** Folders of the pod with volumes, the workspace included. */
  readonly mounts: readonly Mount[];
}

export type ToolArguments = Readonly<Record<string, unknown>>;

/** The answer of a tool. An error that the tool itself gives is an answer as well (requirements AMB-130). */
export interface ToolAnswer {
  readonly content: string;
  readonly isError: boolean;
}

/** A command for the container of an execution (spec 1 §4.5, response `dispatch`). */
export interface DispatchPlan {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env_additions: Readonly<Record<string, string>>;
  readonly timeout_secs: number;
  readonly max_output_bytes: number;
}

/** How the command ended (spec 1 §4.5, request `dispatch_result`). */
export interface DispatchResult {
  readonly exit_code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly duration_ms: number;
  readonly truncated: boolean;
}

interface GuardedRun {
  /** Why the policy refuses a call; absent: no policy of its own. The arguments are not checked yet. */
  problem?(caller: ToolCaller, args: ToolArguments): ToolRefusal | undefined;
}

interface ApiRun extends GuardedRun {
  readonly kind: 'api';
  run(caller: ToolCaller, args: ToolArguments, signal: AbortSignal): Promise<ToolAnswer>;
}

interface PodRun extends GuardedRun {
  readonly kind: 'pod';
  /** The command, or the answer where none is needed. */
  plan(caller: ToolCaller, args: ToolArguments): DispatchPlan | ToolAnswer;
  answer(caller: ToolCaller, args: ToolArguments, result: DispatchResult): ToolAnswer;
}

/** Where a tool runs, and what it refuses. */
export type ToolRun = ApiRun | PodRun;

/** One row of the registry (spec 3 §10). */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. `required` is in the order of the specification's table. */
  readonly input_schema: Readonly<Record<string, unknown>> & { readonly required?: readonly string[] };
  /** Whether the judge of tool calls is skipped, before the node configuration says otherwise. */
  readonly skip_judge: boolean;
  /** Whether a call that was under way when a replica died may be made again. */
  readonly idempotent: boolean;
  readonly fleet_capable: boolean;
  readonly run: ToolRun;
}

/** A refusal before anything runs (spec 3 §7.2). */
export interface ToolRefusal {
  readonly kind: 'unknown_tool' | 'policy' | 'arguments';
  /** Name of the specification, such as `ToolNotAllowed`, `CommandNotAllowed`, `InvalidArguments`. */
  readonly code: string;
  readonly message: string;
}

/** Every tool of the installation, with policy and argument checks in front (design §12, order of a call). */
export interface Toolbox {
  /** Tools that this caller may call. */
  offered(caller: ToolCaller): readonly Tool[];
  /** The tool, or why the call is refused: patterns, policy, then arguments (requirements AMB-131). */
  admit(caller: ToolCaller, name: string, args: unknown): Tool | ToolRefusal;
  /** Whether the judge of tool calls looks at a call of this tool (spec 3 §10.1). */
  isJudged(tool: Tool): boolean;
}

/** Narrows what `admit` gives. */
export const isRefusal = (admitted: Tool | ToolRefusal): admitted is ToolRefusal => 'code' in admitted;
