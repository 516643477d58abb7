import type { ArchiveFact } from '../../archiving/decide-archiving.ts';
import type { Json } from '../../../crds/schema/parts.ts';
import type { WorkflowSpec } from '../../../crds/schema/workflow.ts';
import type { WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { FailureCause, Phase } from '../../../crds/schema/workflow-execution-status.ts';
import type { PodSlot } from '../../../lib/pod-slot.ts';
import type { Failure, PodObservation } from '../../step-pods/step.ts';

export type { Failure, StepOutcome, Waiting } from '../../step-pods/step.ts';

/**
 * The decision cannot be carried out. The output store had no room for it (design §5), the status would be too large,
 * or the API server refused it. Or deciding took more work than one turn may (design §11). Decided again, the execution
 * advances by one state only, so that those before the one that is at fault are kept. Where that is too much as well,
 * this state fails. Where nothing smaller helps, the execution fails.
 */
interface Infeasible {
  readonly failure: Failure;
  readonly consequence: 'one_state' | 'state_fails' | 'execution_fails';
}

/** A pod of the execution, and which one it is. */
export interface PodFact extends PodObservation {
  readonly slot: PodSlot;
}

/** An object that the execution needs, by the name that it is expected to have; another user may have taken that name. */
export type Made =
  | { readonly of: 'pod' | 'volume'; readonly name: string }
  /** A Volume of which the uid alone is known; the uid is in place of the name. */
  | { readonly of: 'volume_of_uid'; readonly name: string }
  | {
      readonly of: 'child' | 'agent' | 'tool_call';
      readonly name: string;
      /** The visit that makes it, and which of its judges. */
      readonly by: { readonly state: string; readonly visit: number; readonly judge?: number | undefined };
    };

/** A child execution. Values in the child's own output store are LargeValue. */
export interface ChildFact {
  readonly name: string;
  /** The visit that made it. Its name says nothing: another user may have taken the expected one. */
  readonly madeBy?: { readonly state: string; readonly visit: number } | undefined;
  readonly uid: string;
  readonly phase: Phase;
  readonly cancelled: boolean;
  /** When it began; absent while it waits for its workflow or its volumes. */
  readonly startedAt?: number | undefined;
  /** Made by a blocking state: it is deleted with its parent. One that was fired and forgotten is on its own. */
  readonly owned: boolean;
  /** `cause`: the execution below, for whose failure it failed. */
  readonly failure?: { readonly reason: string; readonly message: string; readonly cause?: FailureCause | undefined };
  /** Whether result and Blackboard are still to be read: the cache has neither. */
  readonly isSlim?: boolean;
  /** Final output, or the last state's output where the child has no template (requirements AMB-086). */
  readonly result: unknown;
  readonly blackboard: Readonly<Record<string, unknown>>;
}

/** An AgentExecution that a state started. */
export interface AgentFact {
  readonly name: string;
  /**
   * The visit that made it, and which judge it is. Its name says nothing: another user may have taken the expected one.
   */
  readonly madeBy: { readonly state: string; readonly visit: number; readonly judge?: number | undefined };
  readonly uid: string;
  /** Uid of its Agent, once that is fixed. */
  readonly agentUid?: string | undefined;
  readonly phase: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled';
  readonly cancelled: boolean;
  /** In milliseconds since the epoch; absent while it waits. */
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  /** Why it waits, failed or was cancelled, in its own words. */
  readonly why?: { readonly reason: string; readonly message: string } | undefined;
  readonly score?: number | undefined;
  readonly confidence?: number | undefined;
  readonly iterations?: number | undefined;
  /** The final text; absent: it is still to be read, for the cache has it not. */
  readonly output?: string | undefined;
}

/** A ToolCall that a state made. */
export interface ToolCallFact {
  readonly name: string;
  /** The visit that made it. */
  readonly madeBy: { readonly state: string; readonly visit: number };
  readonly uid: string;
  readonly tool: string;
  readonly phase: 'pending' | 'running' | 'completed' | 'failed' | 'cancelled';
  readonly cancelled: boolean;
  /** In milliseconds since the epoch; absent while no replica of the API has it. */
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  /** Why it failed or was cancelled. */
  readonly why?: { readonly reason: string; readonly message: string } | undefined;
  /** The answer of the tool; absent: it is still to be read, for the cache has it not. */
  readonly answer?: { readonly content: string; readonly truncated: boolean } | undefined;
}

/** A definition as it was registered, and where. */
export interface PinnedDefinition {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  readonly version: string;
  readonly revision: string;
  readonly spec: WorkflowSpec;
  /** Owner of a workflow of user scope: names in it may mean other workflows of theirs. */
  readonly user?: string;
}

/** Result of a workflow lookup. */
export type WorkflowLookup =
  | { readonly kind: 'found'; readonly definition: PinnedDefinition }
  | { readonly kind: 'absent'; readonly failure: Failure }
  | { readonly kind: 'not_ready'; readonly failure: Failure };

/** A volume that the execution uses, by its name in the workflow. */
export interface VolumeFact {
  readonly volume: string;
  readonly phase: 'pending' | 'ready' | 'expired' | 'failed';
  readonly claim?: string;
  readonly message?: string;
  /** The API server refuses to make its claim; the message says why. */
  readonly isRefused?: boolean;
}

/** Everything that deciding may look at. Plain data; never changed. */
export interface Facts {
  readonly execution: WorkflowExecution;
  /** The execution that this one runs again, whole, until this one has begun. */
  readonly origin?: WorkflowExecution | undefined;
  /** Executions that run this one again, the oldest first. */
  readonly successors?: readonly { readonly name: string; readonly uid: string }[];
  /** The workflow that the execution itself runs. */
  readonly workflow: WorkflowLookup;
  /** Other workflows that were asked for, by the name or uid that its definition calls them. */
  readonly workflows: ReadonlyMap<string, WorkflowLookup>;
  readonly pods: readonly PodFact[];
  readonly children: readonly ChildFact[];
  /** AgentExecutions of this execution. */
  readonly agents?: readonly AgentFact[];
  /** ToolCalls of this execution. */
  readonly toolCalls?: readonly ToolCallFact[];
  /** Volumes that were asked for by their uid; undefined: there is none. */
  readonly volumesByUid?: ReadonlyMap<string, VolumeFact | undefined>;
  /** Children that were made and may not show yet, or no more: uids by name. */
  readonly made?: ReadonlyMap<string, string>;
  /** The parent has yet to write down that it saw this execution. */
  readonly awaited?: boolean;
  /** Executions that are there and that the same root has started, itself or through others. Absent: not needed. */
  readonly descendants?: number;
  readonly volumes: Readonly<Record<string, VolumeFact>>;
  /** Objects for which the API server itself was asked, for this decision (`madeKey`). */
  readonly asked?: ReadonlySet<string>;
  /** Blobs of the output store that were asked for, by locator. */
  readonly loaded: ReadonlyMap<string, Json>;
  /** Blobs that were asked for and are lost, by locator, with what the store says of them. */
  readonly unreadable?: ReadonlyMap<string, string>;
  /** Why the output store refused the blobs of the last decision, and what fails for it. */
  readonly refused?: Infeasible;
  /** Why the API server refused what was decided last time; it may still allow it. */
  readonly blocked?: Blockage | undefined;
  /** Why the output store has not taken the outputs of this state yet. */
  readonly unstored?: Blockage | undefined;
  /** How far the record of the execution is, once it has ended; absent: there is no archive for it. */
  readonly archive?: ArchiveFact | undefined;
  /** The route for executions of this workflow that end; absent: its tenant has none (requirements AMB-189). */
  readonly onEnd?: EndRoute | undefined;
  /** The execution that the end of this one started. */
  readonly linked?: LinkedFact | undefined;
  /** Name of an execution that was to be started, and that an object of another owner has. */
  readonly taken?: string | undefined;
  readonly settings: Settings;
}

/** A route `workflow:NAME`, and the workflow that it leads to, by name or uid. */
export interface EndRoute {
  readonly source: string;
  readonly workflow: string;
}

/** An execution that the end of another one started. */
export interface LinkedFact {
  readonly name: string;
  readonly uid: string;
  /** Uid of its workflow. */
  readonly workflowUid?: string | undefined;
  /** RFC 3339. */
  readonly createdAt?: string | undefined;
}

/** A refusal of the API server. */
export interface Blockage extends Failure {
  /** Name of the child that it will never take as it is. */
  readonly child?: string | undefined;
  /** When it was refused first, in milliseconds since the Unix epoch. */
  readonly since?: number;
}

/** An operator's settings on which decisions depend. */
export interface Settings {
  readonly executionTtlSeconds: number;
  /** How long a finished execution outlives its time while it cannot be archived. */
  readonly archiveGraceSeconds: number;
}
