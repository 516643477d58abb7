import type { WindlassClient } from '../../client/index.ts';
import type { Agent } from '../../crds/schema/agent.ts';
import type { Json } from '../../crds/schema/parts.ts';
import type { Workflow } from '../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { WorkflowScope } from '../../lib/workflow-lookup/scope.ts';
import type { Beginning } from '../../lib/execution/execution-again.ts';
import type { LogPlace, StoredLog } from '../../lib/execution/log-source.ts';
import type { LogSink } from '../../lib/execution/read-logs.ts';
import type { KubeObject } from '../../lib/kube/index.ts';

/**
 * The way to what Windlass holds: straight to Kubernetes, or through the HTTP API. Commands are written against it, so
 * that they do and say the same through both. Through HTTP objects have the form of the custom resources too, without
 * what only Kubernetes knows (namespace, resourceVersion, pods).
 */
export interface Backend {
  readonly kind: 'kubernetes' | 'http';
  readonly words: BackendWords;
  readonly workflows: WorkflowBackend;
  readonly executions: ExecutionBackend;
  /** Tool calls of agents that wait for a person. */
  readonly calls: CallBackend;
  readonly logs: LogBackend;
  readonly stimuli: StimulusBackend;
  readonly agents: AgentBackend;
  /** Executions of agents, which go through the HTTP API only: their conversations are not in Kubernetes. */
  agentRuns(): AgentRuns;
  /** Hosts, groups and runs of edge mode, which go through the HTTP API only. */
  edge(): EdgeBackend;
  /** The server and its version. */
  version(): Promise<{ readonly name: string; readonly version: string }>;
  whoAmI(): Promise<ServerIdentity>;
}

/** How sentences and hints name the place where a command looks. */
export interface BackendWords {
  /** `in namespace team-a`. */
  readonly place: string;
  /** Where a workflow is looked for: `in namespace team-a or windlass-global`. */
  readonly workflowPlaces: string;
  /** Options of a command that is shown to the user, so that it reaches this backend: ` -n team-a`. */
  readonly flags: string;
}

/** The user as the server identifies them. */
export interface ServerIdentity {
  readonly user: string;
  /** Further facts by name, such as groups. */
  readonly facts: Readonly<Record<string, string>>;
}

export interface RegistrationTarget {
  readonly scope: WorkflowScope;
  readonly force: boolean;
}

/** A part of a definition that deserves a look. */
export interface RegistrationWarning {
  readonly path: string;
  readonly message: string;
}

/** Result of a registration. */
export interface RegistrationResult {
  readonly result: 'created' | 'updated' | 'unchanged';
  /** Warnings of the server; absent where it answers before it has looked. */
  readonly warnings?: readonly RegistrationWarning[];
  readonly workflow: Workflow;
  /** Where it is now: `in team-a`. */
  readonly where: string;
}

/** The controllers' verdict on a registered workflow. */
export type RegistrationVerdict =
  | { readonly accepted: true }
  | { readonly accepted: false; readonly reason: string; readonly message: string };

/** A workflow in a list. */
export interface WorkflowRow {
  readonly name: string;
  readonly version: string;
  readonly scope: WorkflowScope;
  readonly ready: string;
  readonly createdAt: string | undefined;
  readonly description: string | undefined;
  readonly message: string | undefined;
  readonly namespace?: string;
  readonly states?: number;
  /** The whole of it, for `-o json`. */
  readonly object: KubeObject;
}

export interface VersionRow {
  readonly version: string;
  readonly current: boolean;
  readonly registeredAt: string | undefined;
  readonly revision?: string;
}

interface MoveOptions<To extends WorkflowScope> {
  /** The scope to move to; absent: the widest for a promotion, the tenant's for a demotion. */
  readonly to?: To;
  /** Also over another workflow of that name. */
  readonly force: boolean;
}

/** A workflow that has been moved to another scope. */
export interface Moved {
  readonly name: string;
  readonly version: string;
  readonly scope: WorkflowScope;
}

export interface ListQuery {
  /** Whether to list every namespace. */
  readonly everywhere: boolean;
  /** Milliseconds until an answer must have come. */
  readonly timeoutMs?: number;
}

/** Definitions. A name or uid that does not exist is a not-found error with a hint. */
export interface WorkflowBackend {
  register(workflow: Workflow, options: RegistrationTarget): Promise<RegistrationResult>;
  /** Undefined as long as the controllers have not looked at it. */
  verdict(registered: Workflow): Promise<RegistrationVerdict | undefined>;
  list(options: ListQuery): Promise<readonly WorkflowRow[]>;
  /** By default the newest version. */
  read(nameOrUid: string, version?: string): Promise<Workflow>;
  versions(nameOrUid: string): Promise<readonly VersionRow[]>;
  /** Answers the name of what was deleted. */
  delete(nameOrUid: string, scope?: WorkflowScope): Promise<string>;
  /** To more people. */
  promote(nameOrUid: string, options: MoveOptions<'tenant' | 'global'>): Promise<Moved>;
  /** To fewer people. */
  demote(nameOrUid: string, options: MoveOptions<'user' | 'tenant'>): Promise<Moved>;
}

/** An agent in a list. */
export interface AgentRow {
  readonly name: string;
  readonly id: string;
  /** The tenant, or the namespace in Kubernetes. */
  readonly owner: string;
  /** Absent through HTTP, whose list has names and ids alone. */
  readonly version?: string;
  readonly ready?: string;
  readonly object: KubeObject;
}

/** Definitions of agents. A name or uid that does not exist is a not-found error with a hint. */
export interface AgentBackend {
  register(
    agent: Agent,
    options: { readonly scope: 'tenant' | 'global'; readonly force: boolean },
  ): Promise<Omit<RegistrationResult, 'workflow'> & { readonly agent: Agent }>;
  list(): Promise<readonly AgentRow[]>;
  /** By default the newest version. */
  read(nameOrUid: string, version?: string): Promise<Agent>;
  versions(nameOrUid: string): Promise<readonly VersionRow[]>;
  /** Answers the name of what was deleted. */
  delete(nameOrUid: string): Promise<string>;
}

/** Executions of agents as the API has them. */
export type AgentRuns = Pick<
  WindlassClient,
  | 'startAgentExecution'
  | 'listAgentExecutions'
  | 'readAgentExecution'
  | 'cancelAgentExecution'
  | 'readAgentTranscript'
  | 'followAgentConversation'
>;

/** Edge mode as the API has it. */
export type EdgeBackend = Pick<
  WindlassClient,
  | 'issueEnrollmentToken'
  | 'listEdgeHosts'
  | 'readEdgeHost'
  | 'changeEdgeHost'
  | 'tagEdgeHost'
  | 'revokeEdgeHost'
  | 'drainEdgeHost'
  | 'resumeEdgeHost'
  | 'pushEdgeConfig'
  | 'shutDownEdgeHost'
  | 'listEdgeGroups'
  | 'createEdgeGroup'
  | 'readEdgeGroup'
  | 'deleteEdgeGroup'
  | 'previewFleet'
  | 'invokeFleet'
  | 'cancelFleet'
  | 'listFleetRuns'
  | 'readFleetRun'
>;

/** A start as the command line asks for it. */
export interface StartRequest {
  readonly workflow: Workflow;
  readonly version?: string;
  readonly input?: Readonly<Record<string, Json>>;
  readonly intent?: string;
  readonly blackboard?: Readonly<Record<string, Json>>;
  readonly name?: string;
  readonly ttlSeconds?: number;
}

export interface ExecutionFilter extends ListQuery {
  readonly workflow?: string;
  readonly phase?: string;
  readonly selector?: string;
  /** Reads the archive, which only the HTTP API can. */
  readonly archived?: boolean;
}

/** A person's decision on a waiting Human state. */
export interface HumanAnswer {
  readonly response: string;
  readonly feedback?: string;
  /** The state that is meant; absent: the one that waits. */
  readonly state?: string;
}

/** How to run an execution again: from its beginning, with another input if one is given, or from a state. */
export type AgainRequest = Beginning & { readonly name?: string | undefined };

/** A decision that was taken. */
export interface AnsweredApproval {
  readonly state: string;
  readonly response: string;
  readonly by: string;
}

export interface Cancelled {
  readonly execution: WorkflowExecution;
  /** The user who had cancelled it before. */
  readonly earlier?: { readonly by: string; readonly at: string };
}

/** A question of an execution. The names are those of the fields of `-o json`. */
export interface PendingApproval {
  /** Name of the execution that waits. */
  readonly execution: string;
  readonly execution_id: string;
  /** For an agent: the word agent and its name. */
  readonly state: string;
  readonly prompt: string;
  /** RFC 3339. */
  readonly since: string;
}

/** An execution of an agent that a person may have to answer. */
export interface AskingAgent {
  readonly name: string;
  readonly uid: string;
}

/** Tool calls of agents that wait for a person (ADR 0082). */
export interface CallBackend {
  questions(): Promise<readonly PendingApproval[]>;
  /** Undefined where there is no execution of an agent of that name or uid. */
  find(nameOrUid: string): Promise<AskingAgent | undefined>;
  /** Answers the call that waits. */
  answer(
    agent: AskingAgent,
    answer: { readonly response: 'approved' | 'rejected'; readonly feedback?: string | undefined },
  ): Promise<{ readonly response: string; readonly by: string }>;
}

/** Executions. A name or uid that does not exist is a not-found error with a hint. */
export interface ExecutionBackend {
  start(request: StartRequest): Promise<WorkflowExecution>;
  /** In no particular order. */
  list(filter: ExecutionFilter): Promise<readonly WorkflowExecution[]>;
  read(nameOrUid: string, options?: Pick<ListQuery, 'timeoutMs'>): Promise<WorkflowExecution>;
  /** Questions that wait for a decision, in no particular order. */
  questions(): Promise<readonly PendingApproval[]>;
  /**
   * Every state of an execution from now on, the present one first. Survives lost connections. Ends quietly when
   * `signal` aborts; throws when access is refused and when the execution is deleted.
   */
  follow(execution: WorkflowExecution, signal: AbortSignal): AsyncIterable<WorkflowExecution>;
  /** With every value in full, and no references left where that can be. */
  inFull(execution: WorkflowExecution): Promise<WorkflowExecution>;
  /** Undefined where the workflow declares none or has not completed. */
  finalOutput(execution: WorkflowExecution): Promise<Json | undefined>;
  /** A new execution that runs this one again: from its beginning, or from a state that it entered. */
  again(execution: WorkflowExecution, options: AgainRequest): Promise<WorkflowExecution>;
  delete(execution: WorkflowExecution): Promise<void>;
  cancel(execution: WorkflowExecution, reason: string | undefined): Promise<Cancelled>;
  answer(execution: WorkflowExecution, answer: HumanAnswer): Promise<AnsweredApproval>;
}

/** An event from outside that starts a workflow. */
export interface SentStimulus {
  readonly source: string;
  readonly content: string;
  readonly key?: string;
}

interface StimulusBackend {
  send(stimulus: SentStimulus): Promise<{ readonly stimulus_id: string; readonly workflow_execution_id: string }>;
}

/** The log of a command that has not ended, or has only just. */
export interface LiveLog {
  readonly place: LogPlace;
  /** Its attempt; Infinity for a log that covers all attempts. */
  readonly attempt: number;
  /** Why there is nothing to read yet. */
  readonly notStarted?: string;
  /** False when it has gone before all could be read: then it is kept. */
  read(options: { readonly follow: boolean; readonly signal: AbortSignal }, sink: LogSink): Promise<boolean>;
}

/** Output of commands. */
export interface LogBackend {
  /** The present execution, again and again, until the caller stops or `signal` aborts. */
  changes(execution: WorkflowExecution, signal: AbortSignal): AsyncIterable<WorkflowExecution>;
  live(execution: WorkflowExecution, place: LogPlace): Promise<readonly LiveLog[]>;
  /** The logs of single steps that a log contains: mostly itself. */
  singleSteps(execution: WorkflowExecution, log: StoredLog): Promise<readonly StoredLog[]>;
  readStored(execution: WorkflowExecution, log: StoredLog, sink: LogSink): Promise<void>;
}
