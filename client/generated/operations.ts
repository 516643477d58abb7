// Generated from the OpenAPI document by "npm run generate". Change the sources there, not this file.

import type { ByteStream, CallOptions, Operation, ServerEvent } from '../operation.ts';

/** The workflow is known and its input is valid. */
export type WorkflowExecutionStarted = {
  readonly execution_id: string;
  readonly workflow_id: string;
  /** Name of the workflow. */
  readonly workflow: string;
  /** The version that runs. */
  readonly version: string;
  readonly started_at: string;
};

/** The execution has entered a state. */
export type StateStarted = {
  readonly execution_id: string;
  readonly state: string;
  /** 1 where the state was entered for the first time. */
  readonly visit: number;
  readonly kind: "Agent" | "System" | "Human" | "ParallelAgents" | "ContainerRun" | "ParallelContainerRun" | "Subworkflow";
  readonly started_at: string;
  /** When it times out; only as long as it runs. */
  readonly deadline?: string;
};

/** A Human state waits for an answer. */
export type HumanApprovalRequested = {
  readonly execution_id: string;
  readonly state: string;
  /** 1 where the state was entered for the first time. */
  readonly visit: number;
  /** Its id under `/v1/human-approvals`. */
  readonly request_id: string;
  readonly requested_at: string;
  /** The question; only as long as the state waits. */
  readonly prompt?: string;
  /** Responses that match a rule; only as long as the state waits. */
  readonly answers?: readonly string[];
};

/** An attempt of a command failed and is made again. */
export type StateRetried = {
  readonly execution_id: string;
  readonly state: string;
  /** 1 where the state was entered for the first time. */
  readonly visit: number;
  /** The attempt that follows. */
  readonly attempt: number;
  /** Why the one before failed; only as long as this one runs. */
  readonly reason?: string;
  /** The same as a sentence. */
  readonly message?: string;
  /** When it starts; only as long as it runs. */
  readonly retry_at?: string;
};

/** A state has ended, well or not. */
export type StateCompleted = {
  readonly execution_id: string;
  readonly state: string;
  /** 1 where the state was entered for the first time. */
  readonly visit: number;
  readonly status: "success" | "failed";
  /** Why it failed, in one word. */
  readonly reason?: string;
  /** The same as a sentence. */
  readonly message?: string;
  /** Number of attempts of a command. */
  readonly attempts?: number;
  /** Exit code of a command. */
  readonly exit_code?: number;
  /** Exit code of each step of a parallel state. */
  readonly steps?: Readonly<Record<string, number>>;
  /** The answer to a Human state. */
  readonly response?: string;
  /** The user who gave it. */
  readonly by?: string;
  /** Index of the transition rule that matched. */
  readonly rule?: number;
  /** The state it leads to. */
  readonly target?: string;
  readonly completed_at: string;
};

/** The workflow reached a terminal state. Ends the stream. */
export type WorkflowExecutionCompleted = {
  readonly execution_id: string;
  /** As in the execution: null without an output_template, a reference where it is too large. */
  readonly final_output: Readonly<Record<string, unknown>> | {
    /** SHA-256 of the stored part. */
    readonly ref: string;
    /** Its size. */
    readonly bytes: number;
    /** More was written than was kept (1 MiB of each output stream). */
    readonly truncated: boolean;
  } | null;
  /** Transition rules taken in all. */
  readonly transitions: number;
  readonly completed_at: string;
  /** `LastStateFailed` where the state that ended it failed. */
  readonly reason?: string;
  /** How that state failed. */
  readonly message?: string;
};

/** The execution failed. Ends the stream. */
export type WorkflowExecutionFailed = {
  readonly execution_id: string;
  /** Why, in one word. */
  readonly reason: string;
  /** The same as a sentence. */
  readonly error: string;
  /** Transition rules taken in all. */
  readonly transitions: number;
  readonly failed_at: string;
};

/** A caller cancelled the execution. Ends the stream. */
export type WorkflowExecutionCancelled = {
  readonly execution_id: string;
  /** The user who cancelled it. */
  readonly by?: string;
  /** Reason that the user gave. */
  readonly reason?: string;
  /** Transition rules taken in all. */
  readonly transitions: number;
  readonly cancelled_at: string;
};

/** The execution was deleted before it had ended. Ends the stream. */
export type WorkflowExecutionDeleted = {
  readonly execution_id: string;
};

export type ApprovalRequest = {
  /** Id of this visit of a state or of this call of a tool; each has its own. */
  readonly id: string;
  /** The execution that waits. */
  readonly execution_id: string;
  /** The question to the reviewer. */
  readonly prompt: string;
  /** When the execution began to wait. */
  readonly created_at: string;
  /** How long it waits in all; 0: for ever. */
  readonly timeout_seconds: number;
};

export type Execution = {
  /** Never changes. */
  readonly execution_id: string;
  /** Its name in Kubernetes. Every route takes it in place of the id. */
  readonly name: string;
  readonly workflow_id: string | null;
  /** Name of the workflow. */
  readonly workflow: string;
  readonly version: string | null;
  /** `completed` means that it reached a terminal state; `reason` shows whether that state failed. */
  readonly status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled";
  readonly reason: string | null;
  readonly message: string | null;
  readonly current_state: string | null;
  /** Transition rules taken so far. */
  readonly transitions: number;
  /** When it was asked for. */
  readonly created_at: string;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  /** This is read from the archive; the execution itself may be gone. */
  readonly archived: boolean;
  /** It was deleted, and a finalizer still holds its object. */
  readonly deleting?: true;
  /** Input of the start. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly intent: string | null;
  /** The states that it has been in, in their order. */
  readonly history: readonly ({
    readonly state: string;
    readonly kind: "Agent" | "System" | "Human" | "ParallelAgents" | "ContainerRun" | "ParallelContainerRun" | "Subworkflow";
    readonly visit: number;
    readonly status: "success" | "failed";
    readonly reason: string | null;
    readonly message: string | null;
    readonly attempts: number;
    readonly exit_code: number | null;
    readonly steps: Readonly<Record<string, number>> | null;
    readonly started_at: string;
    readonly completed_at: string;
    readonly rule: number | null;
    readonly target: string | null;
    readonly decision: {
      readonly by: string;
      readonly via: "api" | "kubernetes" | null;
      readonly at: string;
      readonly response: string;
    } | null;
  })[];
  readonly current: {
    readonly state: string;
    readonly kind: "Agent" | "System" | "Human" | "ParallelAgents" | "ContainerRun" | "ParallelContainerRun" | "Subworkflow";
    readonly visit: number;
    readonly started_at: string;
    readonly deadline: string | null;
    readonly attempt: number;
    readonly retry_at: string | null;
    readonly failure: {
      readonly reason: string;
      readonly message: string;
    } | null;
    readonly waiting: {
      readonly reason: string;
      readonly message: string;
      readonly since: string;
    } | null;
    readonly prompt: string | null;
    /** Responses that match a rule, as far as the rules name them. */
    readonly answers: readonly string[];
    /** Signals that matched no rule of this visit. */
    readonly signals_refused: number;
  } | null;
  /** Values that the states share, by key; large parts as {ref, bytes, truncated}. */
  readonly blackboard: Readonly<Record<string, unknown>>;
  readonly final_output: Readonly<Record<string, unknown>> | null;
};

export type ExecutionEvent = {
  readonly workflow_execution_started: WorkflowExecutionStarted;
} | {
  readonly state_started: StateStarted;
} | {
  readonly human_approval_requested: HumanApprovalRequested;
} | {
  readonly state_retried: StateRetried;
} | {
  readonly state_completed: StateCompleted;
} | {
  readonly workflow_execution_completed: WorkflowExecutionCompleted;
} | {
  readonly workflow_execution_failed: WorkflowExecutionFailed;
} | {
  readonly workflow_execution_cancelled: WorkflowExecutionCancelled;
} | {
  readonly workflow_execution_deleted: WorkflowExecutionDeleted;
};

export type ExecutionSummary = {
  /** Never changes. */
  readonly execution_id: string;
  /** Its name in Kubernetes. Every route takes it in place of the id. */
  readonly name: string;
  readonly workflow_id: string | null;
  /** Name of the workflow. */
  readonly workflow: string;
  readonly version: string | null;
  /** `completed` means that it reached a terminal state; `reason` shows whether that state failed. */
  readonly status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled";
  readonly reason: string | null;
  readonly message: string | null;
  readonly current_state: string | null;
  /** Transition rules taken so far. */
  readonly transitions: number;
  /** When it was asked for. */
  readonly created_at: string;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  /** This is read from the archive; the execution itself may be gone. */
  readonly archived: boolean;
  /** It was deleted, and a finalizer still holds its object. */
  readonly deleting?: true;
};

export type ListedApprovalRequest = {
  /** Id of this visit of a state or of this call of a tool; each has its own. */
  readonly id: string;
  /** The execution that waits. */
  readonly execution_id: string;
  /** The question to the reviewer; the beginning of a long prompt. */
  readonly prompt: string;
  /** When the execution began to wait. */
  readonly created_at: string;
  /** How long it waits in all; 0: for ever. */
  readonly timeout_seconds: number;
  /** Present where the prompt is longer; read the request by its id for the whole. */
  readonly prompt_truncated?: boolean;
  /** Size of the whole prompt, where it is longer; absent for a tool call. */
  readonly prompt_bytes?: number;
};

export type WorkflowDefinition = {
  readonly apiVersion: "windlass.dev/v1";
  readonly kind: "Workflow";
  readonly metadata: {
    /** Name of the workflow. */
    readonly name: string;
    /** Semantic version. A version that exists is replaced only with force. */
    readonly version: string;
    /** Purpose of the workflow. */
    readonly description?: string;
    /** Discovery labels. */
    readonly labels?: Readonly<Record<string, string>>;
    /** Non-identifying metadata. */
    readonly annotations?: Readonly<Record<string, string>>;
    /** JSON Schema of the start input; its type is object. */
    readonly input_schema?: {
      /** Always object. */
      readonly type: "object";
    };
    /** JSON Schema of final_output. */
    readonly output_schema?: Readonly<Record<string, unknown>>;
    /** Templates that build final_output from the final Blackboard. */
    readonly output_template?: Readonly<Record<string, string>>;
  };
  readonly spec: WorkflowManifestSpec;
  /** The uid of the Workflow object. A workflow that moved to another scope is found by its former ids too. */
  readonly workflow_id: string;
  /** Users who may run it: `user` the one who registered it, `tenant` all of the tenant, `global` every tenant. */
  readonly scope: "user" | "tenant" | "global";
  readonly created_at: string;
  /** The controllers have accepted this definition; it can be run. */
  readonly ready: boolean;
  /** Why it is not ready, in a word. */
  readonly reason?: string;
  /** Why it is not ready, in a sentence. */
  readonly message?: string;
  /** As on the object; they are about the newest version. */
  readonly conditions: readonly ({
    readonly type: string;
    readonly status: "True" | "False" | "Unknown";
    readonly reason: string;
    readonly message: string;
    readonly lastTransitionTime: string;
    readonly observedGeneration?: number;
  })[];
};

export type WorkflowIdentity = {
  /** The uid of the Workflow object. A workflow that moved to another scope is found by its former ids too. */
  readonly workflow_id: string;
  readonly name: string;
  /** Semantic version. */
  readonly version: string;
  /** Users who may run it: `user` the one who registered it, `tenant` all of the tenant, `global` every tenant. */
  readonly scope: "user" | "tenant" | "global";
};

export type WorkflowManifestSpec = {
  /** The first state, a key of states. */
  readonly initial_state: string;
  /** How many transitions may be taken; one more ends the workflow. */
  readonly max_total_transitions?: number;
  /** Constants; templates read them as {{workflow.context.KEY}}. */
  readonly context?: Readonly<Record<string, unknown>>;
  /** Volumes that the states share. */
  readonly storage?: {
    /** The default shared volume, made before any state runs. */
    readonly workspace?: {
      /** ephemeral volumes are deleted after ttl_hours, persistent ones stay until a user deletes them. */
      readonly storage_class?: "ephemeral" | "persistent";
      /** Hours from the start of the workflow until an ephemeral volume is deleted. */
      readonly ttl_hours?: number;
      /** Size of the claim in MiB. A StorageClass that enforces sizes ends a write beyond it with ENOSPC. */
      readonly size_limit_mb?: number;
    };
    /** Further volumes, by name. */
    readonly shared_volumes?: readonly ({
      /** Unique name of the volume: any text without / and control characters. */
      readonly name: string;
      /** ephemeral volumes are deleted after ttl_hours, persistent ones stay until a user deletes them. */
      readonly storage_class?: "ephemeral" | "persistent";
      /** Hours from the start of the workflow until an ephemeral volume is deleted. */
      readonly ttl_hours?: number;
      /** Size of the claim in MiB. A StorageClass that enforces sizes ends a write beyond it with ENOSPC. */
      readonly size_limit_mb?: number;
      /** uid of a Volume made beforehand; persistent volumes only. */
      readonly volume_id?: string;
    })[];
  };
  /** States by name. */
  readonly states: Readonly<Record<string, State>>;
};

export type WorkflowRegistration = {
  /** The uid of the Workflow object. A workflow that moved to another scope is found by its former ids too. */
  readonly workflow_id: string;
  readonly name: string;
  /** Semantic version. */
  readonly version: string;
  /** Users who may run it: `user` the one who registered it, `tenant` all of the tenant, `global` every tenant. */
  readonly scope: "user" | "tenant" | "global";
  /** Effect of the registration. */
  readonly registration: "created" | "updated" | "unchanged";
  /** The form in which the body was read. */
  readonly form: "manifest" | "resource";
  /** Parts that deserve a look but are no mistakes, such as a state that nothing leads to. */
  readonly warnings?: readonly ({
    readonly path: string;
    readonly message: string;
  })[];
};

export type WorkflowSummary = {
  /** The uid of the Workflow object. A workflow that moved to another scope is found by its former ids too. */
  readonly workflow_id: string;
  readonly name: string;
  /** Semantic version. */
  readonly version: string;
  /** Users who may run it: `user` the one who registered it, `tenant` all of the tenant, `global` every tenant. */
  readonly scope: "user" | "tenant" | "global";
  readonly description?: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly created_at: string;
  /** The controllers have accepted this definition; it can be run. */
  readonly ready: boolean;
  /** Why it is not ready, in a word. */
  readonly reason?: string;
  /** Why it is not ready, in a sentence. */
  readonly message?: string;
};

export type WorkflowVersion = {
  /** Semantic version. */
  readonly version: string;
  readonly registered_at: string;
  /** The version that runs unless another is asked for. */
  readonly current: boolean;
};

export type State = AgentState | SystemState | HumanState | ParallelAgentsState | ContainerRunState | ParallelContainerRunState | SubworkflowState;

/** Runs a deployed agent. */
export type AgentState = {
  readonly kind: "Agent";
  /** How often the state may be entered; one entry more ends the workflow. */
  readonly max_state_visits?: number;
  /**
   * Longest time in the state from its entry, as 300s, 5m or 1h. The default counts from the start of its first
   * container or child; a Human state without it waits for ever.
   */
  readonly timeout?: string;
  /** Ordered rules; an empty list makes the state terminal. */
  readonly transitions: readonly ({
    /** When the rule matches. Absent: always. */
    readonly condition?: "always" | "on_success" | "on_failure" | "exit_code_zero" | "exit_code_non_zero" | "exit_code" | "score_above" | "score_below" | "score_between" | "confidence_above" | "consensus" | "all_approved" | "any_rejected" | "input_equals" | "input_equals_yes" | "input_equals_no" | "custom";
    /** The next state, a key of spec.states. */
    readonly target: string;
    /** Template; the next state reads it as {{state.feedback}}. */
    readonly feedback?: string;
    /** Bound of a score, confidence or consensus. */
    readonly threshold?: number;
    /** Least confidence of a consensus. */
    readonly agreement?: number;
    /** Exact value for exit_code and input_equals. */
    readonly value?: string;
    /** Boolean expression for the condition custom; {{…}} holds a path or helper, in quotes any template. */
    readonly expression?: string;
    /** Lower bound of score_between, inclusive. */
    readonly min?: number;
    /** Upper bound of score_between, inclusive. */
    readonly max?: number;
  })[];
  /** Name or uid of a deployed agent. */
  readonly agent: string;
  /** Template; steering for this state. Falls back to the intent of the execution. */
  readonly intent?: string;
  /** Template; the task input. */
  readonly input?: string;
  /** Isolation of the agent from others. */
  readonly isolation?: "inherit" | "firecracker" | "docker" | "process";
  /** Volumes that are mounted into the container. */
  readonly volumes?: readonly ({
    /** Template that gives the volume. */
    readonly volume: string;
    /** Absolute path in the container. */
    readonly mount_path: string;
    /** Whether it may be written to. */
    readonly access_mode: "read-write" | "read-only";
  })[];
};

/** Runs a shell command with the workspace, or one of the built-in commands. */
export type SystemState = {
  readonly kind: "System";
  /** How often the state may be entered; one entry more ends the workflow. */
  readonly max_state_visits?: number;
  /**
   * Longest time in the state from its entry, as 300s, 5m or 1h. The default counts from the start of its first
   * container or child; a Human state without it waits for ever.
   */
  readonly timeout?: string;
  /** Ordered rules; an empty list makes the state terminal. */
  readonly transitions: readonly ({
    /** When the rule matches. Absent: always. */
    readonly condition?: "always" | "on_success" | "on_failure" | "exit_code_zero" | "exit_code_non_zero" | "exit_code" | "score_above" | "score_below" | "score_between" | "confidence_above" | "consensus" | "all_approved" | "any_rejected" | "input_equals" | "input_equals_yes" | "input_equals_no" | "custom";
    /** The next state, a key of spec.states. */
    readonly target: string;
    /** Template; the next state reads it as {{state.feedback}}. */
    readonly feedback?: string;
    /** Bound of a score, confidence or consensus. */
    readonly threshold?: number;
    /** Least confidence of a consensus. */
    readonly agreement?: number;
    /** Exact value for exit_code and input_equals. */
    readonly value?: string;
    /** Boolean expression for the condition custom; {{…}} holds a path or helper, in quotes any template. */
    readonly expression?: string;
    /** Lower bound of score_between, inclusive. */
    readonly min?: number;
    /** Upper bound of score_between, inclusive. */
    readonly max?: number;
  })[];
  /** Shell command, or update_context, finalize or call_tool. Template. */
  readonly command: string;
  /** Environment variables. Each value is a template. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where the command runs. */
  readonly workdir?: string;
  /**
   * Longest wait for quota, room on a node, an image or a volume; a step that has not started then fails with
   * NeverStarted.
   */
  readonly queue_timeout?: string;
  /**
   * Whether a step whose pod was drained, preempted, evicted or lost with its node is run again, three times at
   * most and beside retry.max_attempts. By default only where retry is declared.
   */
  readonly retry_on_disruption?: boolean;
};

/** Waits for a person. */
export type HumanState = {
  readonly kind: "Human";
  /** How often the state may be entered; one entry more ends the workflow. */
  readonly max_state_visits?: number;
  /**
   * Longest time in the state from its entry, as 300s, 5m or 1h. The default counts from the start of its first
   * container or child; a Human state without it waits for ever.
   */
  readonly timeout?: string;
  /** Ordered rules; an empty list makes the state terminal. */
  readonly transitions: readonly ({
    /** When the rule matches. Absent: always. */
    readonly condition?: "always" | "on_success" | "on_failure" | "exit_code_zero" | "exit_code_non_zero" | "exit_code" | "score_above" | "score_below" | "score_between" | "confidence_above" | "consensus" | "all_approved" | "any_rejected" | "input_equals" | "input_equals_yes" | "input_equals_no" | "custom";
    /** The next state, a key of spec.states. */
    readonly target: string;
    /** Template; the next state reads it as {{state.feedback}}. */
    readonly feedback?: string;
    /** Bound of a score, confidence or consensus. */
    readonly threshold?: number;
    /** Least confidence of a consensus. */
    readonly agreement?: number;
    /** Exact value for exit_code and input_equals. */
    readonly value?: string;
    /** Boolean expression for the condition custom; {{…}} holds a path or helper, in quotes any template. */
    readonly expression?: string;
    /** Lower bound of score_between, inclusive. */
    readonly min?: number;
    /** Upper bound of score_between, inclusive. */
    readonly max?: number;
  })[];
  /** Template; the message for the reviewer. */
  readonly prompt: string;
  /** Signal that is applied when the timeout elapses. */
  readonly default_response?: string;
};

/** Asks several agents at once and weighs their answers. */
export type ParallelAgentsState = {
  readonly kind: "ParallelAgents";
  /** How often the state may be entered; one entry more ends the workflow. */
  readonly max_state_visits?: number;
  /**
   * Longest time in the state from its entry, as 300s, 5m or 1h. The default counts from the start of its first
   * container or child; a Human state without it waits for ever.
   */
  readonly timeout?: string;
  /** Ordered rules; an empty list makes the state terminal. */
  readonly transitions: readonly ({
    /** When the rule matches. Absent: always. */
    readonly condition?: "always" | "on_success" | "on_failure" | "exit_code_zero" | "exit_code_non_zero" | "exit_code" | "score_above" | "score_below" | "score_between" | "confidence_above" | "consensus" | "all_approved" | "any_rejected" | "input_equals" | "input_equals_yes" | "input_equals_no" | "custom";
    /** The next state, a key of spec.states. */
    readonly target: string;
    /** Template; the next state reads it as {{state.feedback}}. */
    readonly feedback?: string;
    /** Bound of a score, confidence or consensus. */
    readonly threshold?: number;
    /** Least confidence of a consensus. */
    readonly agreement?: number;
    /** Exact value for exit_code and input_equals. */
    readonly value?: string;
    /** Boolean expression for the condition custom; {{…}} holds a path or helper, in quotes any template. */
    readonly expression?: string;
    /** Lower bound of score_between, inclusive. */
    readonly min?: number;
    /** Upper bound of score_between, inclusive. */
    readonly max?: number;
  })[];
  /** The agents that judge. */
  readonly agents: readonly ({
    /** Name or uid of a deployed agent. */
    readonly agent: string;
    /** Template; the task input. */
    readonly input?: string;
    /** How much the judge counts. */
    readonly weight?: number;
    /** How long the judge may take. */
    readonly timeout_seconds?: number;
    /** How often it is asked whether it has ended. */
    readonly poll_interval_ms?: number;
  })[];
  /** How the judges come to one score. */
  readonly consensus: {
    /** How the scores become one. */
    readonly strategy: "weighted_average" | "majority" | "unanimous" | "best_of_n";
    /** A judge agrees from this score on. */
    readonly threshold?: number;
    /** The least confidence of a consensus. */
    readonly min_agreement_confidence?: number;
    /** Another name of min_agreement_confidence. */
    readonly agreement?: number;
    /** How many of the best judges count; best_of_n only. */
    readonly n?: number;
    /** The state fails when fewer judges complete. */
    readonly min_judges_required?: number;
    /** Weights of the two parts of confidence; they add up to 1. */
    readonly confidence_weighting?: {
      /** Weight of how much the judges agree. */
      readonly agreement_factor?: number;
      /** Weight of how sure they say they are. */
      readonly self_confidence_factor?: number;
    };
  };
};

/** Runs one command in a container. */
export type ContainerRunState = {
  readonly kind: "ContainerRun";
  /** How often the state may be entered; one entry more ends the workflow. */
  readonly max_state_visits?: number;
  /**
   * Longest time in the state from its entry, as 300s, 5m or 1h. The default counts from the start of its first
   * container or child; a Human state without it waits for ever.
   */
  readonly timeout?: string;
  /** Ordered rules; an empty list makes the state terminal. */
  readonly transitions: readonly ({
    /** When the rule matches. Absent: always. */
    readonly condition?: "always" | "on_success" | "on_failure" | "exit_code_zero" | "exit_code_non_zero" | "exit_code" | "score_above" | "score_below" | "score_between" | "confidence_above" | "consensus" | "all_approved" | "any_rejected" | "input_equals" | "input_equals_yes" | "input_equals_no" | "custom";
    /** The next state, a key of spec.states. */
    readonly target: string;
    /** Template; the next state reads it as {{state.feedback}}. */
    readonly feedback?: string;
    /** Bound of a score, confidence or consensus. */
    readonly threshold?: number;
    /** Least confidence of a consensus. */
    readonly agreement?: number;
    /** Exact value for exit_code and input_equals. */
    readonly value?: string;
    /** Boolean expression for the condition custom; {{…}} holds a path or helper, in quotes any template. */
    readonly expression?: string;
    /** Lower bound of score_between, inclusive. */
    readonly min?: number;
    /** Upper bound of score_between, inclusive. */
    readonly max?: number;
  })[];
  /** Display label. */
  readonly name?: string;
  /** Reference of the container image, as registry.example.org/team/app:1.2. */
  readonly image: string;
  /** When the image is pulled. */
  readonly image_pull_policy?: "Always" | "IfNotPresent" | "Never";
  /** Runs instead of the image's entry point. Each element is a template. */
  readonly command: readonly string[];
  /** Join the elements with blanks and pass them to sh -c. */
  readonly shell?: boolean;
  /** Environment variables. Each value is a template. */
  readonly env?: Readonly<Record<string, string>>;
  /** Where the command runs. */
  readonly workdir?: string;
  /** Volumes that are mounted into the container. */
  readonly volumes?: readonly ({
    /** workspace, or the name of a shared volume. */
    readonly name: string;
    /** Absolute path in the container. */
    readonly mount_path: string;
    /** Whether it may only be read. */
    readonly read_only?: boolean;
  })[];
  /** Limits of the command. */
  readonly resources?: {
    /** Millicores. */
    readonly cpu?: number;
    /** A quantity of Kubernetes above zero, as 512Mi, 1.5Gi or 512M. */
    readonly memory?: string;
    /** Hard limit of one attempt. */
    readonly timeout?: string;
  };
  /**
   * NAME or NAME/KEY of a pull secret in the namespace of the execution; KEY is .dockerconfigjson or .dockercfg,
   * as kubelets read no other.
   */
  readonly registry_credentials?: string;
  /** How often a failed command is run again. */
  readonly retry?: {
    /** Attempts in all, the first included. */
    readonly max_attempts?: number;
    /** Delay before the second attempt; doubles after. */
    readonly backoff?: string;
  };
  /**
   * Longest wait for quota, room on a node, an image or a volume; a step that has not started then fails with
   * NeverStarted.
   */
  readonly queue_timeout?: string;
  /**
   * Whether a step whose pod was drained, preempted, evicted or lost with its node is run again, three times at
   * most and beside retry.max_attempts. By default only where retry is declared.
   */
  readonly retry_on_disruption?: boolean;
};

/** Runs several commands at once and waits for all. */
export type ParallelContainerRunState = {
  readonly kind: "ParallelContainerRun";
  /** How often the state may be entered; one entry more ends the workflow. */
  readonly max_state_visits?: number;
  /**
   * Longest time in the state from its entry, as 300s, 5m or 1h. The default counts from the start of its first
   * container or child; a Human state without it waits for ever.
   */
  readonly timeout?: string;
  /** Ordered rules; an empty list makes the state terminal. */
  readonly transitions: readonly ({
    /** When the rule matches. Absent: always. */
    readonly condition?: "always" | "on_success" | "on_failure" | "exit_code_zero" | "exit_code_non_zero" | "exit_code" | "score_above" | "score_below" | "score_between" | "confidence_above" | "consensus" | "all_approved" | "any_rejected" | "input_equals" | "input_equals_yes" | "input_equals_no" | "custom";
    /** The next state, a key of spec.states. */
    readonly target: string;
    /** Template; the next state reads it as {{state.feedback}}. */
    readonly feedback?: string;
    /** Bound of a score, confidence or consensus. */
    readonly threshold?: number;
    /** Least confidence of a consensus. */
    readonly agreement?: number;
    /** Exact value for exit_code and input_equals. */
    readonly value?: string;
    /** Boolean expression for the condition custom; {{…}} holds a path or helper, in quotes any template. */
    readonly expression?: string;
    /** Lower bound of score_between, inclusive. */
    readonly min?: number;
    /** Upper bound of score_between, inclusive. */
    readonly max?: number;
  })[];
  /** The commands, by name. */
  readonly steps: readonly ({
    /** Unique; the key of the result in the Blackboard entry. */
    readonly name: string;
    /** Reference of the container image, as registry.example.org/team/app:1.2. */
    readonly image: string;
    /** When the image is pulled. */
    readonly image_pull_policy?: "Always" | "IfNotPresent" | "Never";
    /** Runs instead of the image's entry point. Each element is a template. */
    readonly command: readonly string[];
    /** Join the elements with blanks and pass them to sh -c. */
    readonly shell?: boolean;
    /** Environment variables. Each value is a template. */
    readonly env?: Readonly<Record<string, string>>;
    /** Where the command runs. */
    readonly workdir?: string;
    /** Volumes that are mounted into the container. */
    readonly volumes?: readonly ({
      /** workspace, or the name of a shared volume. */
      readonly name: string;
      /** Absolute path in the container. */
      readonly mount_path: string;
      /** Whether it may only be read. */
      readonly read_only?: boolean;
    })[];
    /** Limits of the command. */
    readonly resources?: {
      /** Millicores. */
      readonly cpu?: number;
      /** A quantity of Kubernetes above zero, as 512Mi, 1.5Gi or 512M. */
      readonly memory?: string;
      /** Hard limit of one attempt. */
      readonly timeout?: string;
    };
    /**
     * NAME or NAME/KEY of a pull secret in the namespace of the execution; KEY is .dockerconfigjson or .dockercfg,
     * as kubelets read no other.
     */
    readonly registry_credentials?: string;
  })[];
  /** Which steps must succeed for the state to succeed; best_effort asks for none. */
  readonly completion?: "all_succeed" | "any_succeed" | "best_effort";
  /**
   * Longest wait for quota, room on a node, an image or a volume; a step that has not started then fails with
   * NeverStarted.
   */
  readonly queue_timeout?: string;
  /**
   * Whether a step whose pod was drained, preempted, evicted or lost with its node is run again, three times at
   * most and beside retry.max_attempts. By default only where retry is declared.
   */
  readonly retry_on_disruption?: boolean;
};

/** Runs another workflow as a child. */
export type SubworkflowState = {
  readonly kind: "Subworkflow";
  /** How often the state may be entered; one entry more ends the workflow. */
  readonly max_state_visits?: number;
  /**
   * Longest time in the state from its entry, as 300s, 5m or 1h. The default counts from the start of its first
   * container or child; a Human state without it waits for ever.
   */
  readonly timeout?: string;
  /** Ordered rules; an empty list makes the state terminal. */
  readonly transitions: readonly ({
    /** When the rule matches. Absent: always. */
    readonly condition?: "always" | "on_success" | "on_failure" | "exit_code_zero" | "exit_code_non_zero" | "exit_code" | "score_above" | "score_below" | "score_between" | "confidence_above" | "consensus" | "all_approved" | "any_rejected" | "input_equals" | "input_equals_yes" | "input_equals_no" | "custom";
    /** The next state, a key of spec.states. */
    readonly target: string;
    /** Template; the next state reads it as {{state.feedback}}. */
    readonly feedback?: string;
    /** Bound of a score, confidence or consensus. */
    readonly threshold?: number;
    /** Least confidence of a consensus. */
    readonly agreement?: number;
    /** Exact value for exit_code and input_equals. */
    readonly value?: string;
    /** Boolean expression for the condition custom; {{…}} holds a path or helper, in quotes any template. */
    readonly expression?: string;
    /** Lower bound of score_between, inclusive. */
    readonly min?: number;
    /** Upper bound of score_between, inclusive. */
    readonly max?: number;
  })[];
  /** Name or uid of a deployed workflow. */
  readonly workflow_id: string;
  /** Whether the state waits for the end of the child. */
  readonly mode?: "blocking" | "fire_and_forget";
  /** Blackboard key for the child's final Blackboard; blocking only. */
  readonly result_key?: string;
  /** Template; the child's start input. Text that is not a JSON object becomes the value of its key input. */
  readonly input?: string;
  /**
   * Longest wait for quota, room on a node, an image or a volume; a step that has not started then fails with
   * NeverStarted.
   */
  readonly queue_timeout?: string;
};

export type ListWorkflowsAnswer = {
  readonly workflows: readonly WorkflowSummary[];
  /** Null on the last page. */
  readonly next_cursor: string | null;
};

export type ListWorkflowVersionsAnswer = {
  readonly versions: readonly WorkflowVersion[];
};

export type DeleteWorkflowAnswer = {
  readonly workflow_id: string;
  readonly name: string;
  readonly deleted_at: string;
  /** It was deleted, and a finalizer still holds its object. */
  readonly deleting?: true;
};

export type StartExecutionBody = {
  /** Name or id of the workflow. */
  readonly workflow: string;
  /**
   * Name of the execution in Kubernetes; absent: a name is made up. The same caller, name, body and
   * `Idempotency-Key`, if any, start one execution, however often they are sent.
   */
  readonly name?: string;
  /** A registered version; absent: the newest. */
  readonly version?: string;
  /**
   * Start input; templates read it as {{input.KEY}}. Any other value becomes `{"input": …}`, unless the
   * `input_schema` of the workflow takes no such field.
   */
  readonly input?: unknown;
  /** Natural-language purpose, {{intent}}. */
  readonly intent?: string;
  /** Pairs that seed the Blackboard. */
  readonly blackboard?: Readonly<Record<string, unknown>>;
  /** How long the execution is kept after its end; absent: as the installation is set, one day. */
  readonly ttl_seconds_after_finished?: number;
};

export type StartExecutionAnswer = {
  /** Id of the execution. */
  readonly execution_id: string;
};

export type ListExecutionsAnswer = {
  readonly executions: readonly ExecutionSummary[];
  /** Null on the last page. */
  readonly next_cursor: string | null;
};

export type CancelExecutionBody = {
  /** Why. */
  readonly reason?: string;
};

export type CancelExecutionAnswer = {
  /** `cancelling` until its pods and children have stopped. */
  readonly status: "cancelling" | "cancelled";
  /** The user who cancelled it: you, or an earlier caller. Absent: it ended with its parent. */
  readonly by?: string;
  /** When that was. */
  readonly at?: string;
};

export type SignalExecutionBody = {
  /** The text that `input_equals` rules compare. */
  readonly response: string;
  /** Text of {{human.feedback}} instead of the response. */
  readonly feedback?: string;
  /** Answer only if this is the state that waits. */
  readonly state?: string;
};

export type SignalExecutionAnswer = {
  readonly status: "signaled";
};

export type RerunExecutionBody = {
  /** Name of the new execution; absent: a name is made up. */
  readonly name?: string;
  /** Another input, whole; any other value than an object becomes `{"input": …}`. Absent: that of the execution. */
  readonly input?: unknown;
};

export type RerunExecutionAnswer = {
  /** Id of the new execution. */
  readonly execution_id: string;
};

export type RetryExecutionBody = {
  /** The state to begin in. */
  readonly from: string;
  /** Name of the new execution; absent: a name is made up. */
  readonly name?: string;
};

export type DeleteExecutionAnswer = {
  readonly status: "deleted" | "deleting";
};

export type LookupAgentAnswer = {
  /** The uid of the Agent object. */
  readonly agent_id: string;
  /** Unique within the tenant. */
  readonly name: string;
  /** Slug of the tenant that owns it; `global` for one that all tenants share. */
  readonly tenant_id: string;
};

export type ListAgentsAnswer = {
  readonly agents: readonly LookupAgentAnswer[];
  /** Null on the last page. */
  readonly next_cursor: string | null;
};

export type RegisterAgentAnswer = {
  /** The uid of the Agent object. */
  readonly agent_id: string;
  /** Unique within the tenant. */
  readonly name: string;
  /** Slug of the tenant that owns it; `global` for one that all tenants share. */
  readonly tenant_id: string;
  /** Semantic version. */
  readonly version: string;
  /** Effect of the registration. */
  readonly registration: "created" | "updated" | "unchanged";
  /** Parts that deserve a look but are no mistakes. */
  readonly warnings?: readonly ({
    readonly path: string;
    readonly message: string;
  })[];
};

export type ReadAgentAnswer = {
  readonly apiVersion: "windlass.dev/v1";
  readonly kind: "Agent";
  readonly metadata: {
    /** Name of the agent: up to 63 lower-case letters, digits and dashes. */
    readonly name: string;
    /** Semantic version. A version that exists is replaced only with force. */
    readonly version: string;
    /** The purpose of the agent. */
    readonly description?: string;
    /** Discovery labels. */
    readonly labels?: Readonly<Record<string, string>>;
    /** Non-identifying metadata. */
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    /** Where the agent runs, and on which model. */
    readonly runtime?: {
      /** Language of the agent program. */
      readonly language?: string;
      /** Version of the language. */
      readonly version?: string;
      /** Model alias of the node configuration. */
      readonly model?: string;
      /** Image of the container. Default: the image of the language and version, else the one for System commands. */
      readonly image?: string;
    };
    /** The task of the agent. */
    readonly task: {
      /** Task instruction. Template: {{intent}} and {{input}} name those of the execution. */
      readonly instruction: string;
    };
    /** Tool calls that run only when a person has approved them. */
    readonly approval?: {
      /** Tools whose calls wait, as globs, such as cmd.run or svc.workflow.*. */
      readonly tools: readonly string[];
      /** Longest wait for an answer; a call without one is refused. Default 600. */
      readonly timeout_seconds?: number;
    };
    /** Resources that the agent may use. */
    readonly security?: {
      /** Name of a SecurityContext here. Default: default. */
      readonly context?: string;
      /** Paths that fs.* and svc.file.* tools may touch. Default: the workspace and the mounts. */
      readonly filesystem?: {
        /** Paths that may be read. */
        readonly read?: readonly string[];
        /** Paths that may be written and read. */
        readonly write?: readonly string[];
      };
    };
    /** Volumes of the namespace of an execution, which each execution mounts. */
    readonly volumes?: readonly ({
      /** Name of a Volume here. */
      readonly volume: string;
      /** Absolute path in the container. */
      readonly mount_path: string;
      /** Whether it may be written to. */
      readonly access_mode: "read-write" | "read-only";
    })[];
    /** Environment of commands in the container. */
    readonly env?: Readonly<Record<string, string>>;
    /** Resources of the container. */
    readonly resources?: {
      /** Millicores. */
      readonly cpu?: number;
      /** Such as 512Mi. */
      readonly memory?: string;
    };
    /** JSON Schema of the answer. An answer that breaks it is asked for again. */
    readonly output_schema?: {
      /** Always object. */
      readonly type: "object";
    };
    /** Tools that the agent may use: names, or names with settings. */
    readonly tools?: readonly (string | {
      /**
       * Name of a tool, such as fs.read; a name that ends in .* offers every tool that begins so. Names under
       * svc.edge. need a writer who may run fleets.
       */
      readonly name: string;
      /** Where the tool runs, such as builtin:cmd. */
      readonly executor?: string;
      /** Settings of this tool for this agent. */
      readonly config?: Readonly<Record<string, unknown>>;
    })[];
    /** Bounds of one execution. */
    readonly execution?: {
      /** How often an answer may be refused and asked for again, the first time included. */
      readonly max_iterations?: number;
      /** Longest time of one execution, 168h (7 days) at most. */
      readonly timeout?: string;
      /** A judge that accepts the answer of an iteration or asks for another. */
      readonly validation?: {
        /** Model alias that judges an iteration. Default: the model of the agent. */
        readonly model?: string;
        /** Name or id of an agent that judges an iteration in place of a model. */
        readonly agent?: string;
        /** The rules that the judge applies. */
        readonly criteria?: string;
        /** The least score that an answer is accepted with. */
        readonly threshold: number;
      };
      /** Tool calls of one execution. */
      readonly max_tool_calls?: number;
      /** Tokens of one execution, input and output. */
      readonly max_tokens?: number;
      /** Cost of one execution by the prices of the node configuration. */
      readonly max_cost_usd?: number;
      readonly tool_validation?: boolean | {
        /** Whether calls are judged. */
        readonly enabled: boolean;
        /** Model alias that judges. Default: the model of the agent. */
        readonly model?: string;
        /** Longest time of a verdict, from its turn at the provider on. Default 30. */
        readonly timeout_seconds?: number;
      };
    };
  };
  /** The uid of the Agent object. */
  readonly agent_id: string;
  /** Slug of the tenant that owns it; `global` for one that all tenants share. */
  readonly tenant_id: string;
  readonly created_at: string;
  /** The controllers have accepted this definition; it can be run. */
  readonly ready: boolean;
  /** Why it is not ready, in a word. */
  readonly reason?: string;
  /** Why it is not ready, in a sentence. */
  readonly message?: string;
  /** As on the object; they are about the newest version. */
  readonly conditions: readonly ({
    readonly type: string;
    readonly status: "True" | "False" | "Unknown";
    readonly reason: string;
    readonly message: string;
    readonly lastTransitionTime: string;
    readonly observedGeneration?: number;
  })[];
};

export type ListAgentVersionsAnswer = {
  readonly versions: readonly ({
    /** Semantic version. */
    readonly version: string;
    readonly registered_at: string;
    /** The version that runs unless another is asked for. */
    readonly current: boolean;
  })[];
};

export type DeleteAgentAnswer = {
  readonly agent_id: string;
  readonly name: string;
  readonly deleted_at: string;
  /** It was deleted, and a finalizer still holds its object. */
  readonly deleting?: true;
};

export type StartAgentExecutionBody = {
  /** Id of the agent, a UUID. */
  readonly agent_id: string;
  /** The task input. */
  readonly input: string;
  /** Natural-language purpose, {{intent}}. */
  readonly intent?: string;
  /** A stored version; absent: the newest. */
  readonly version?: string;
};

export type StartAgentExecutionAnswer = {
  /** Id of the execution. */
  readonly execution_id: string;
};

export type ListAgentExecutionsAnswer = {
  readonly executions: readonly ({
    /** Id of the execution. */
    readonly execution_id: string;
    /** Its name in Kubernetes. */
    readonly name: string;
    /** Name of the agent, or what it was asked for by until that is known. */
    readonly agent: string;
    /** Null until it is known. */
    readonly agent_id: string | null;
    /** The version of the agent that runs. */
    readonly version?: string;
    /** How it is doing. */
    readonly status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled";
    /** Why it waits or failed, in one word. */
    readonly reason?: string;
    /** The same in one sentence. */
    readonly message?: string;
    readonly created_at: string;
    readonly started_at?: string;
    readonly finished_at?: string;
    /** Answers that the agent gave, refused ones included. */
    readonly iterations?: number;
    /** Tool calls that ran. */
    readonly tool_calls?: number;
    /** Tokens that the model read. */
    readonly input_tokens?: number;
    /** Tokens that the model wrote. */
    readonly output_tokens?: number;
    /** By the prices of the node configuration; absent where its model has none. */
    readonly cost_usd?: number;
    /** This is read from the archive; the execution itself may be gone. */
    readonly archived: boolean;
    /** It was deleted, and a finalizer still holds its object. */
    readonly deleting?: true;
  })[];
  /** Null on the last page. */
  readonly next_cursor: string | null;
};

export type ReadAgentExecutionAnswer = {
  /** Id of the execution. */
  readonly execution_id: string;
  /** Its name in Kubernetes. */
  readonly name: string;
  /** Name of the agent, or what it was asked for by until that is known. */
  readonly agent: string;
  /** Null until it is known. */
  readonly agent_id: string | null;
  /** The version of the agent that runs. */
  readonly version?: string;
  /** How it is doing. */
  readonly status: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled";
  /** Why it waits or failed, in one word. */
  readonly reason?: string;
  /** The same in one sentence. */
  readonly message?: string;
  readonly created_at: string;
  readonly started_at?: string;
  readonly finished_at?: string;
  /** Answers that the agent gave, refused ones included. */
  readonly iterations?: number;
  /** Tool calls that ran. */
  readonly tool_calls?: number;
  /** Tokens that the model read. */
  readonly input_tokens?: number;
  /** Tokens that the model wrote. */
  readonly output_tokens?: number;
  /** By the prices of the node configuration; absent where its model has none. */
  readonly cost_usd?: number;
  /** This is read from the archive; the execution itself may be gone. */
  readonly archived: boolean;
  /** It was deleted, and a finalizer still holds its object. */
  readonly deleting?: true;
  /** The task input. */
  readonly input?: string;
  /** The natural-language purpose. */
  readonly intent?: string;
  /** The final text. */
  readonly output?: string;
  /** From the judge of the agent, else from its answer. */
  readonly score?: number;
  /** From its answer. */
  readonly confidence?: number;
  /** Provider that served the model. */
  readonly provider?: string;
  /** Model as the provider names it. */
  readonly model?: string;
  /** The execution of a workflow that started this one. */
  readonly workflow_execution_id?: string;
  /** The state of that workflow. */
  readonly state?: string;
  /** The tool call that waits for a person. */
  readonly approval?: {
    /** Id of the approval request. */
    readonly id: string;
    /** The tool that is to be called. */
    readonly tool: string;
    /** Its arguments, as JSON. */
    readonly arguments: string;
    /** When the execution began to wait. */
    readonly asked_at: string;
    /** When the call is refused unless it is answered. */
    readonly until: string;
  };
};

export type CancelAgentExecutionBody = {
  /** Why. */
  readonly reason?: string;
};

export type CancelAgentExecutionAnswer = {
  /** `cancelling` until it has stopped. */
  readonly status: "cancelling" | "cancelled";
  /** The user who cancelled it: you, or an earlier caller. */
  readonly by?: string;
  /** When that was. */
  readonly at?: string;
};

export type DeleteAgentExecutionAnswer = {
  readonly status: "deleted" | "deleting";
};

export type ReadAgentTranscriptAnswer = {
  readonly records: readonly (Readonly<Record<string, unknown>>)[];
  /** Null on the last page. */
  readonly next_cursor: string | null;
};

export type StreamAgentExecutionAnswer = {
  /** The agent has begun. */
  readonly execution_started: {
    /** Id of the execution. */
    readonly execution_id: string;
    readonly agent_id: string;
    readonly started_at: string;
  };
} | {
  /** The agent begins an answer. */
  readonly iteration_started: {
    /** Id of the execution. */
    readonly execution_id: string;
    /** From 1 on. */
    readonly iteration_number: number;
    /** Next action of the agent. */
    readonly action: string;
    readonly started_at: string;
  };
} | {
  /** The agent gave an answer, accepted or not. */
  readonly iteration_completed: {
    /** Id of the execution. */
    readonly execution_id: string;
    /** From 1 on. */
    readonly iteration_number: number;
    /** The answer. */
    readonly output: string;
    readonly completed_at: string;
  };
} | {
  /** The agent is done. Ends the stream. */
  readonly execution_completed: {
    /** Id of the execution. */
    readonly execution_id: string;
    /** The final text. */
    readonly final_output: string;
    /** Iterations in all. */
    readonly total_iterations: number;
    readonly completed_at: string;
  };
} | {
  /** The execution failed. Ends the stream. */
  readonly execution_failed: {
    /** Id of the execution. */
    readonly execution_id: string;
    /** Why: the reason in one word, a colon, and a sentence. */
    readonly error: string;
    /** Iterations in all. */
    readonly total_iterations: number;
    readonly failed_at: string;
  };
} | {
  /** The execution was cancelled. Ends the stream. */
  readonly execution_cancelled: {
    /** Id of the execution. */
    readonly execution_id: string;
    /** The user who cancelled it. */
    readonly by?: string;
    /** Why. */
    readonly reason?: string;
    readonly cancelled_at: string;
  };
} | {
  /** The execution was deleted before it had ended. Ends the stream. */
  readonly execution_deleted: {
    /** Id of the execution. */
    readonly execution_id: string;
  };
};

export type FollowAgentConversationAnswer = {
  /**
   * A type of the stream: `execution_started`, `iteration_started`, `iteration_completed`, `execution_completed`,
   * `execution_failed`, `execution_cancelled` or `execution_deleted`. Or the kind of another record: `taken_over`,
   * `model_asked`, `model_replied`, `judge_replied`, `call_judged`, `approval_asked`, `approval_given`,
   * `tool_started`, `dispatched`, `tool_ended`, `pod_said`, `signed_call`, `signed_ended` or `iteration_judged`.
   * Or `text`: a piece of text as the model writes it.
   */
  readonly type: string;
  /** When it happened. */
  readonly time: string;
  /** The fields that the stream gives the type, and others that are on record. */
  readonly data: Readonly<Record<string, unknown>>;
};

export type ListHumanApprovalsAnswer = {
  readonly pending_requests: readonly ListedApprovalRequest[];
  /** There when more requests follow. */
  readonly next_cursor?: string;
};

export type ReadHumanApprovalAnswer = {
  readonly request: ApprovalRequest;
} | {
  readonly error: "Request not found or already completed";
};

export type ApproveHumanApprovalBody = {
  /** Text of `{{human.feedback}}`; without it, or where it is blank, `approved`. */
  readonly feedback?: string;
  /** A note beside the decision. Its author is always the subject of the token. */
  readonly approved_by?: string;
};

export type ApproveHumanApprovalAnswer = {
  readonly status: "approved";
};

export type RejectHumanApprovalBody = {
  /** Why; `{{human.feedback}}` shows it. */
  readonly reason: string;
  /** A note beside the decision. Its author is always the subject of the token. */
  readonly rejected_by?: string;
};

export type RejectHumanApprovalAnswer = {
  readonly status: "rejected";
};

export type ListVolumesAnswer = {
  readonly volumes: readonly ReadVolumeAnswer[];
  /** Null on the last page. */
  readonly next_cursor: string | null;
};

export type ReadVolumeAnswer = {
  /** The id that `volume_id` of a manifest names. */
  readonly volume_id: string;
  /** Its name in Kubernetes. */
  readonly name: string;
  readonly declared_name: string | null;
  readonly storage_class: "ephemeral" | "persistent";
  readonly phase: "pending" | "ready" | "expired" | "failed";
  readonly message: string | null;
  readonly size_limit_mb: number | null;
  readonly expires_at: string | null;
  readonly execution_id: string | null;
  readonly created_at: string;
};

export type DeleteVolumeAnswer = {
  readonly status: "deleted";
};

export type SubmitStimulusBody = {
  /** `http_api` or a name of your own; it selects the route. */
  readonly source: string;
  /** Natural language, or JSON as text; it may be empty. */
  readonly content: string;
  /** A second stimulus with the same source and key is refused for 24 hours. */
  readonly idempotency_key?: string;
};

export type SubmitStimulusAnswer = {
  /** Identifier of the stimulus. */
  readonly stimulus_id: string;
  /** Identifier of the execution that it started. */
  readonly workflow_execution_id: string;
};

export type IssueEnrollmentTokenBody = {
  /** Display name. */
  readonly name?: string;
  /** Seconds for which the token can be used. */
  readonly ttl_seconds?: number;
  /** Tenant of a team; default: the tenant of the call. */
  readonly team_tenant_id?: string;
};

export type IssueEnrollmentTokenAnswer = {
  /** A JWT; give it to the daemon. */
  readonly token: string;
  /** When it can be used no more. */
  readonly expires_at: string;
  /** Where the daemon connects to: host and port. */
  readonly controller_endpoint: string;
  /** The token as an address for a QR code. */
  readonly qr_payload: string;
};

export type ListEdgeHostsAnswer = {
  readonly items: readonly ({
    /** Id of the host. */
    readonly node_id: string;
    /** Display name. */
    readonly name: string;
    /** Slug of the tenant that owns it. */
    readonly tenant_id: string;
    /** How the host is doing. */
    readonly status: "Connected" | "Disconnected" | "Unhealthy" | "Revoked";
    /** When that began. */
    readonly since: string;
    /**
     * Its last heartbeat, as its relay has it; the last one before its state changed where no relay answers. null:
     * none yet.
     */
    readonly last_heartbeat_at: string | null;
    /** Tags that operators gave it. */
    readonly tags: readonly string[];
    /** true: no run targets it. Absent otherwise. */
    readonly draining?: boolean;
    /** Facts that the host reports. */
    readonly capabilities: {
      /** Operating system. */
      readonly os: string;
      /** Processor architecture. */
      readonly arch: string;
      /** Tools that the host runs. */
      readonly local_tools: readonly string[];
      /** Labels that the host gives itself. */
      readonly labels: Readonly<Record<string, string>>;
      /** Longest time that the machine's owner permits one command; absent: the deadline counts alone. */
      readonly command_timeout_secs?: number;
      /** Tools and labels that the host reports and that are left out: all together are too long. */
      readonly facts_left_out?: number;
    };
  })[];
  /** Null on the last page. */
  readonly next_cursor: string | null;
};

export type ReadEdgeHostAnswer = {
  /** Id of the host. */
  readonly node_id: string;
  /** Display name. */
  readonly name: string;
  /** Slug of the tenant that owns it. */
  readonly tenant_id: string;
  /** How the host is doing. */
  readonly status: "Connected" | "Disconnected" | "Unhealthy" | "Revoked";
  /** When that began. */
  readonly since: string;
  /**
   * Its last heartbeat, as its relay has it; the last one before its state changed where no relay answers. null:
   * none yet.
   */
  readonly last_heartbeat_at: string | null;
  /** Tags that operators gave it. */
  readonly tags: readonly string[];
  /** true: no run targets it. Absent otherwise. */
  readonly draining?: boolean;
  /** Facts that the host reports. */
  readonly capabilities: {
    /** Operating system. */
    readonly os: string;
    /** Processor architecture. */
    readonly arch: string;
    /** Tools that the host runs. */
    readonly local_tools: readonly string[];
    /** Labels that the host gives itself. */
    readonly labels: Readonly<Record<string, string>>;
    /** Longest time that the machine's owner permits one command; absent: the deadline counts alone. */
    readonly command_timeout_secs?: number;
    /** Tools and labels that the host reports and that are left out: all together are too long. */
    readonly facts_left_out?: number;
  };
  /** When it was enrolled. */
  readonly enrolled_at: string;
  /** Its last 20 commands. */
  readonly recent_commands: readonly ({
    /** Id of the command. */
    readonly command_id: string;
    /** The tool that ran. */
    readonly tool: string;
    /** When it was sent. */
    readonly dispatched_at: string;
    /** How it ended; null: not yet. */
    readonly outcome: string | null;
    /** Milliseconds it took. */
    readonly duration_ms: number | null;
  })[];
};

export type ChangeEdgeHostBody = {
  /** Display name. */
  readonly name?: string;
  /** All tags of the host from now on; each once, in this order. */
  readonly tags?: readonly string[];
};

export type TagEdgeHostBody = {
  /** Tags to add. */
  readonly add?: readonly string[];
  /** Tags to remove; wins over `add`. */
  readonly remove?: readonly string[];
};

export type PushEdgeConfigBody = {
  /** The change, at most 256 KiB of JSON. */
  readonly config: {
    /** Labels of the daemon; null takes one away. */
    readonly labels?: Readonly<Record<string, unknown>>;
    /** Security contexts by name; null takes one away. */
    readonly security_contexts?: Readonly<Record<string, unknown>>;
  };
  /** Names the change. */
  readonly version?: string;
};

export type PushEdgeConfigAnswer = {
  /** Name of the change. */
  readonly version: string;
};

export type ShutDownEdgeHostBody = {
  /** Seconds for commands under way. */
  readonly grace_secs?: number;
};

export type ListEdgeGroupsAnswer = {
  readonly items: readonly ({
    /** Id of the group. */
    readonly id: string;
    /** Display name. */
    readonly name: string;
    /** Which hosts; null: only those that are pinned. */
    readonly selector: {
      /** Operating system of the host. */
      readonly os?: string;
      /** Local tools that the host must all have. */
      readonly tools?: readonly string[];
      /** Matchers of tags. */
      readonly tags?: readonly ({
        /** The host has all of these tags. */
        readonly AllOf?: readonly string[];
        /** The host has this tag. */
        readonly Has?: string;
      })[];
      /** Matchers of labels. */
      readonly labels?: readonly ({
        /** One label and its value. */
        readonly Equals: Readonly<Record<string, string>>;
      })[];
    } | null;
    /** Hosts that belong to it whatever the selector says. */
    readonly pinned_members: readonly string[];
    /** When it was made. */
    readonly created_at: string;
    /** Hosts that belong to it now. */
    readonly resolved_member_count: number;
  })[];
  /** Null on the last page. */
  readonly next_cursor: string | null;
};

export type CreateEdgeGroupBody = {
  /** Display name. */
  readonly name: string;
  /** Hosts that fit belong to the group; `{}` is every host, null or absent none. */
  readonly selector?: {
    /** Operating system of the host. */
    readonly os?: string;
    /** Local tools that the host must all have. */
    readonly tools?: readonly string[];
    /** Matchers of tags. */
    readonly tags?: readonly ({
      /** The host has all of these tags. */
      readonly AllOf?: readonly string[];
      /** The host has this tag. */
      readonly Has?: string;
    })[];
    /** Matchers of labels. */
    readonly labels?: readonly ({
      /** One label and its value. */
      readonly Equals: Readonly<Record<string, string>>;
    })[];
  } | null;
  /** Ids of hosts that belong to the group whatever the selector says. */
  readonly pinned_members?: readonly string[];
};

export type CreateEdgeGroupAnswer = {
  /** Id of the group. */
  readonly id: string;
  /** Display name. */
  readonly name: string;
  /** Which hosts; null: only those that are pinned. */
  readonly selector: {
    /** Operating system of the host. */
    readonly os?: string;
    /** Local tools that the host must all have. */
    readonly tools?: readonly string[];
    /** Matchers of tags. */
    readonly tags?: readonly ({
      /** The host has all of these tags. */
      readonly AllOf?: readonly string[];
      /** The host has this tag. */
      readonly Has?: string;
    })[];
    /** Matchers of labels. */
    readonly labels?: readonly ({
      /** One label and its value. */
      readonly Equals: Readonly<Record<string, string>>;
    })[];
  } | null;
  /** Hosts that belong to it whatever the selector says. */
  readonly pinned_members: readonly string[];
  /** When it was made. */
  readonly created_at: string;
  /** Hosts that belong to it now. */
  readonly resolved_members: readonly ({
    /** Id of the host. */
    readonly node_id: string;
    /** Display name. */
    readonly name: string;
    /** How the host is doing. */
    readonly status: "Connected" | "Disconnected" | "Unhealthy" | "Revoked";
  })[];
};

export type ChangeEdgeGroupBody = {
  /** Display name. */
  readonly name?: string;
  /** Hosts that fit belong to the group; `{}` is every host, null or absent none. */
  readonly selector?: {
    /** Operating system of the host. */
    readonly os?: string;
    /** Local tools that the host must all have. */
    readonly tools?: readonly string[];
    /** Matchers of tags. */
    readonly tags?: readonly ({
      /** The host has all of these tags. */
      readonly AllOf?: readonly string[];
      /** The host has this tag. */
      readonly Has?: string;
    })[];
    /** Matchers of labels. */
    readonly labels?: readonly ({
      /** One label and its value. */
      readonly Equals: Readonly<Record<string, string>>;
    })[];
  } | null;
  /** Ids of hosts that belong to the group whatever the selector says. */
  readonly pinned_members?: readonly string[];
};

export type PreviewFleetBody = {
  /** Which hosts: exactly one of `Node`, `Group`, `Selector` and `All`. */
  readonly target: {
    /** node_id of a host. */
    readonly Node?: string;
    /** `id` of a group. */
    readonly Group?: string;
    /** Which hosts; a host must satisfy all that is given. */
    readonly Selector?: {
      /** Operating system of the host. */
      readonly os?: string;
      /** Local tools that the host must all have. */
      readonly tools?: readonly string[];
      /** Matchers of tags. */
      readonly tags?: readonly ({
        /** The host has all of these tags. */
        readonly AllOf?: readonly string[];
        /** The host has this tag. */
        readonly Has?: string;
      })[];
      /** Matchers of labels. */
      readonly labels?: readonly ({
        /** One label and its value. */
        readonly Equals: Readonly<Record<string, string>>;
      })[];
    };
    /** Every host of the tenant: null, or {} as in a FleetRun. Answers have null. */
    readonly All?: null | Readonly<Record<string, never>>;
  };
};

export type PreviewFleetAnswer = {
  /** Hosts that would get the command. */
  readonly resolved: readonly ({
    /** Id of the host. */
    readonly node_id: string;
    /** Display name. */
    readonly name: string;
    /** How the host is doing. */
    readonly status: "Connected" | "Disconnected" | "Unhealthy" | "Revoked";
  })[];
  /** Hosts of the target that would not. */
  readonly skipped: readonly ({
    /** Id of the host. */
    readonly node_id: string;
    /** Why it gets no command, such as `Disconnected`. */
    readonly reason: string;
  })[];
};

export type InvokeFleetBody = {
  /** Which hosts: exactly one of `Node`, `Group`, `Selector` and `All`. */
  readonly target: {
    /** node_id of a host. */
    readonly Node?: string;
    /** `id` of a group. */
    readonly Group?: string;
    /** Which hosts; a host must satisfy all that is given. */
    readonly Selector?: {
      /** Operating system of the host. */
      readonly os?: string;
      /** Local tools that the host must all have. */
      readonly tools?: readonly string[];
      /** Matchers of tags. */
      readonly tags?: readonly ({
        /** The host has all of these tags. */
        readonly AllOf?: readonly string[];
        /** The host has this tag. */
        readonly Has?: string;
      })[];
      /** Matchers of labels. */
      readonly labels?: readonly ({
        /** One label and its value. */
        readonly Equals: Readonly<Record<string, string>>;
      })[];
    };
    /** Every host of the tenant: null, or {} as in a FleetRun. Answers have null. */
    readonly All?: null | Readonly<Record<string, never>>;
  };
  /** Tool that each host runs. */
  readonly tool: string;
  /** Arguments of the tool, at most 64 KiB of JSON. */
  readonly args?: Readonly<Record<string, unknown>>;
  /** How the command is dispatched over the hosts. */
  readonly policy?: {
    /** `Sequential`, `Parallel`, or `{"Rolling":{"batch":n}}`. Default: `Parallel`. */
    readonly mode?: "Sequential" | "Parallel" | {
      readonly Rolling: {
        /** Hosts of one batch. */
        readonly batch: number;
      };
    };
    /** Most commands in flight. Default: 10. */
    readonly max_concurrency?: number;
    /** `FailFast`, `ContinueOnError`, or `{"StopAfter":n}`. Default: `ContinueOnError`. */
    readonly failure_policy?: "FailFast" | "ContinueOnError" | {
      /** Failures after which nothing new begins. */
      readonly StopAfter: number;
    };
    /** The run is refused where fewer hosts resolve. Default: null. */
    readonly require_min_targets?: number | null;
    /** Longest time of one command. Default: 60. */
    readonly per_target_deadline_secs?: number;
  };
};

export type InvokeFleetAnswer = {
  /** Id of the host. */
  readonly node_id: string;
  /** Id of its command. */
  readonly command_id: string;
  readonly chunk: {
    /** Text of the output. */
    readonly stdout: string;
  } | {
    /** Text of the error output. */
    readonly stderr: string;
  } | {
    /** Progress as the tool reports it. */
    readonly status: string;
  };
} | {
  /** Id of the host. */
  readonly node_id: string;
  /** Id of its command. */
  readonly command_id: string;
  readonly result: {
    readonly ok: {
      readonly exit_code: number;
      readonly duration_ms: number;
    };
  } | {
    readonly err: {
      /** Code. */
      readonly code: string;
      /** Why. */
      readonly message: string;
      /** Exit code, where the tool has one. */
      readonly exit_code?: number;
    };
  } | {
    readonly timed_out: {
      readonly deadline_ms: number;
    };
  } | {
    readonly cancelled: {
      /** Why. */
      readonly reason: string;
    };
  };
} | {
  /** Id of the run. */
  readonly fleet_command_id: string;
  /** Ids of its hosts. */
  readonly targets_resolved: readonly string[];
  /** Hosts of the target that got no command. */
  readonly targets_skipped: readonly ({
    /** Id of the host. */
    readonly node_id: string;
    /** Why it gets no command, such as `Disconnected`. */
    readonly reason: string;
  })[];
  /** Hosts by outcome. */
  readonly summary: {
    /** Hosts whose command ended, whatever its exit code. */
    readonly ok: number;
    /** Hosts whose command could not be run or failed. */
    readonly err: number;
    /** Hosts that gave no result before the deadline. */
    readonly timed_out: number;
    /** Hosts whose command was cancelled. */
    readonly cancelled: number;
    /** Hosts that were never sent the command. */
    readonly not_started: number;
  };
} | {
  /**
   * One of `RequireMinNotSatisfied`, `EdgeUnavailable`, `Halted`, or a word of ours for a run that got past these
   * checks, such as `GroupNotFound`, `TooManyTargets`, `NotFleetCapable` and `EdgeKeyMissing`.
   */
  readonly reason: string;
  /** The same in one sentence. */
  readonly message: string;
};

export type CancelFleetBody = Readonly<Record<string, never>>;

export type CancelFleetAnswer = {
  /** Id of the run. */
  readonly fleet_command_id: string;
  /** Commands that were in flight. */
  readonly cancelled: number;
  /** Hosts that had an outcome. */
  readonly already_terminal: number;
};

export type ListFleetRunsAnswer = {
  readonly items: readonly ({
    /** Id of the run. */
    readonly fleet_command_id: string;
    /** Tool that each host runs. */
    readonly tool: string;
    /** Which hosts: exactly one of `Node`, `Group`, `Selector` and `All`. */
    readonly target: {
      /** node_id of a host. */
      readonly Node?: string;
      /** `id` of a group. */
      readonly Group?: string;
      /** Which hosts; a host must satisfy all that is given. */
      readonly Selector?: {
        /** Operating system of the host. */
        readonly os?: string;
        /** Local tools that the host must all have. */
        readonly tools?: readonly string[];
        /** Matchers of tags. */
        readonly tags?: readonly ({
          /** The host has all of these tags. */
          readonly AllOf?: readonly string[];
          /** The host has this tag. */
          readonly Has?: string;
        })[];
        /** Matchers of labels. */
        readonly labels?: readonly ({
          /** One label and its value. */
          readonly Equals: Readonly<Record<string, string>>;
        })[];
      };
      /** Every host of the tenant: null, or {} as in a FleetRun. Answers have null. */
      readonly All?: null | Readonly<Record<string, never>>;
    };
    /** How the command is dispatched over the hosts. */
    readonly policy: {
      /** `Sequential`, `Parallel`, or `{"Rolling":{"batch":n}}`. Default: `Parallel`. */
      readonly mode?: "Sequential" | "Parallel" | {
        readonly Rolling: {
          /** Hosts of one batch. */
          readonly batch: number;
        };
      };
      /** Most commands in flight. Default: 10. */
      readonly max_concurrency?: number;
      /** `FailFast`, `ContinueOnError`, or `{"StopAfter":n}`. Default: `ContinueOnError`. */
      readonly failure_policy?: "FailFast" | "ContinueOnError" | {
        /** Failures after which nothing new begins. */
        readonly StopAfter: number;
      };
      /** The run is refused where fewer hosts resolve. Default: null. */
      readonly require_min_targets?: number | null;
      /** Longest time of one command. Default: 60. */
      readonly per_target_deadline_secs?: number;
    };
    /** When its hosts were fixed; null: not yet, or never, where the run ended before that. */
    readonly started_at: string | null;
    /** When it ended; null: it is still running. */
    readonly ended_at: string | null;
    /** How it ended; null: it is still running. */
    readonly outcome: "complete" | "halted" | "cancelled" | null;
    /** Why it was halted or refused, or waits, in one word. */
    readonly reason?: string;
    /** The same in one sentence. */
    readonly message?: string;
    /** The user who asked for it. */
    readonly requested_by: string;
    /** Hosts by outcome. */
    readonly summary: {
      /** Hosts whose command ended, whatever its exit code. */
      readonly ok: number;
      /** Hosts whose command could not be run or failed. */
      readonly err: number;
      /** Hosts that gave no result before the deadline. */
      readonly timed_out: number;
      /** Hosts whose command was cancelled. */
      readonly cancelled: number;
      /** Hosts that were never sent the command. */
      readonly not_started: number;
    };
  })[];
  /** Null on the last page. */
  readonly next_cursor: string | null;
};

export type ReadFleetRunAnswer = {
  /** Id of the run. */
  readonly fleet_command_id: string;
  /** Tool that each host runs. */
  readonly tool: string;
  /** Which hosts: exactly one of `Node`, `Group`, `Selector` and `All`. */
  readonly target: {
    /** node_id of a host. */
    readonly Node?: string;
    /** `id` of a group. */
    readonly Group?: string;
    /** Which hosts; a host must satisfy all that is given. */
    readonly Selector?: {
      /** Operating system of the host. */
      readonly os?: string;
      /** Local tools that the host must all have. */
      readonly tools?: readonly string[];
      /** Matchers of tags. */
      readonly tags?: readonly ({
        /** The host has all of these tags. */
        readonly AllOf?: readonly string[];
        /** The host has this tag. */
        readonly Has?: string;
      })[];
      /** Matchers of labels. */
      readonly labels?: readonly ({
        /** One label and its value. */
        readonly Equals: Readonly<Record<string, string>>;
      })[];
    };
    /** Every host of the tenant: null, or {} as in a FleetRun. Answers have null. */
    readonly All?: null | Readonly<Record<string, never>>;
  };
  /** How the command is dispatched over the hosts. */
  readonly policy: {
    /** `Sequential`, `Parallel`, or `{"Rolling":{"batch":n}}`. Default: `Parallel`. */
    readonly mode?: "Sequential" | "Parallel" | {
      readonly Rolling: {
        /** Hosts of one batch. */
        readonly batch: number;
      };
    };
    /** Most commands in flight. Default: 10. */
    readonly max_concurrency?: number;
    /** `FailFast`, `ContinueOnError`, or `{"StopAfter":n}`. Default: `ContinueOnError`. */
    readonly failure_policy?: "FailFast" | "ContinueOnError" | {
      /** Failures after which nothing new begins. */
      readonly StopAfter: number;
    };
    /** The run is refused where fewer hosts resolve. Default: null. */
    readonly require_min_targets?: number | null;
    /** Longest time of one command. Default: 60. */
    readonly per_target_deadline_secs?: number;
  };
  /** When its hosts were fixed; null: not yet, or never, where the run ended before that. */
  readonly started_at: string | null;
  /** When it ended; null: it is still running. */
  readonly ended_at: string | null;
  /** How it ended; null: it is still running. */
  readonly outcome: "complete" | "halted" | "cancelled" | null;
  /** Why it was halted or refused, or waits, in one word. */
  readonly reason?: string;
  /** The same in one sentence. */
  readonly message?: string;
  /** The user who asked for it. */
  readonly requested_by: string;
  /** Hosts by outcome. */
  readonly summary: {
    /** Hosts whose command ended, whatever its exit code. */
    readonly ok: number;
    /** Hosts whose command could not be run or failed. */
    readonly err: number;
    /** Hosts that gave no result before the deadline. */
    readonly timed_out: number;
    /** Hosts whose command was cancelled. */
    readonly cancelled: number;
    /** Hosts that were never sent the command. */
    readonly not_started: number;
  };
  /**
   * Hosts that have an outcome, in the order in which they got it. At the end those that were never sent the
   * command follow.
   */
  readonly per_node: readonly ({
    /** Id of the host. */
    readonly node_id: string;
    /** Id of its command. */
    readonly command_id: string;
    /** How it ended. */
    readonly outcome: "ok" | "err" | "timed_out" | "cancelled" | "not_started";
    /** Exit code, where the tool has one. */
    readonly exit_code: number | null;
    /** Milliseconds it took. */
    readonly duration_ms: number | null;
    /** The end of its output. */
    readonly stdout_tail: string;
    /** The end of its error output. */
    readonly stderr_tail: string;
    /** Code of an err, such as OutcomeUnknown; 128 bytes at most. */
    readonly code?: string;
    /** Why it is err, timed_out or cancelled; the last 1,024 bytes at most. */
    readonly message?: string;
  })[];
  /** The outcomes of the hosts were deleted, and per_node is empty; the summary is all that is left. */
  readonly records_lost?: true;
};

export type IssueSealTokenBody = {
  /** Name of a security context that is there, of the tenant or a shared one, or `default`. It bounds the session. */
  readonly security_context: string;
  /** Seconds for which calls may be signed with it. */
  readonly ttl_seconds?: number;
};

export type IssueSealTokenAnswer = {
  /** A JWT. */
  readonly security_token: string;
  /** When it can be used no more. */
  readonly expires_at: string;
};

/** A signed tool call. */
export type InvokeToolBody = {
  /** Always seal/v1. */
  readonly protocol: "seal/v1";
  /** The token of the session, a JWT. */
  readonly security_token: string;
  /** Base64 of the Ed25519 signature over the canonical JSON of payload, security_token and timestamp. */
  readonly signature: string;
  /** Now: whole Unix seconds, or an RFC 3339 time with its zone. */
  readonly timestamp: number | string;
  /** The JSON-RPC request. */
  readonly payload: {
    readonly jsonrpc: "2.0";
    readonly id?: string | number | null;
    readonly method: "tools/call";
    readonly params: {
      /** Name of the tool. */
      readonly name: string;
      /** Its arguments. */
      readonly arguments?: Readonly<Record<string, unknown>>;
    };
  };
  /** Whose call it is. */
  readonly metadata: {
    /** The execution of the session. */
    readonly execution_id: string;
  };
};

export type InvokeToolAnswer = {
  readonly jsonrpc: "2.0";
  readonly id: string | number | null;
  readonly result: {
    readonly content: readonly ({
      readonly type: "text";
      readonly text: string;
    })[];
    readonly isError: boolean;
  };
};

export type ListPricesAnswer = {
  readonly tiers: readonly ({
    /** Name of the tier */
    readonly tier: "pro" | "business" | "enterprise";
    /** The payment provider's id of the product */
    readonly product_id: string;
    /** Name to show */
    readonly name: string;
    /** Text to show; may be empty */
    readonly description: string;
    /** Seats that the base price includes */
    readonly included_seats: number;
    readonly monthly: {
      /** The payment provider's id, for POST /v1/billing/checkout */
      readonly price_id: string;
      /** Price of one unit for one period, in the currency's smallest unit */
      readonly amount: number;
      /** ISO 4217, in lower case */
      readonly currency: string;
    } | null;
    readonly annual: {
      /** The payment provider's id, for POST /v1/billing/checkout */
      readonly price_id: string;
      /** Price of one unit for one period, in the currency's smallest unit */
      readonly amount: number;
      /** ISO 4217, in lower case */
      readonly currency: string;
    } | null;
    readonly seat_monthly: {
      /** The payment provider's id, for POST /v1/billing/checkout */
      readonly price_id: string;
      /** Price of one unit for one period, in the currency's smallest unit */
      readonly amount: number;
      /** ISO 4217, in lower case */
      readonly currency: string;
    } | null;
    readonly seat_annual: {
      /** The payment provider's id, for POST /v1/billing/checkout */
      readonly price_id: string;
      /** Price of one unit for one period, in the currency's smallest unit */
      readonly amount: number;
      /** ISO 4217, in lower case */
      readonly currency: string;
    } | null;
  })[];
};

export type CreateCheckoutBody = {
  /** A price `monthly` or `annual` of GET /v1/billing/prices. */
  readonly price_id: string;
  /** The same tier's `seat_monthly` or `seat_annual`, for further seats. */
  readonly seat_price_id?: string;
  /** Seats beyond those included, with `seat_price_id`; absent: 1; 0: none. */
  readonly seats?: number;
};

export type CreateCheckoutAnswer = {
  /** Where to send the browser; good for a short time and one user. */
  readonly url: string;
};

export type OpenPortalBody = {
  /** Where the portal leads back to: an https address. Default: set by the operator. */
  readonly return_url?: string;
};

export type OpenPortalAnswer = {
  /** Where to send the browser; good for a short time and one user. */
  readonly url: string;
};

export type ReadSubscriptionAnswer = {
  /** Present tier of the tenant */
  readonly tier: "free" | "pro" | "business" | "enterprise";
  readonly status: string | null;
  readonly current_period_end: string | null;
  readonly cancel_at_period_end: boolean | null;
  readonly provider_customer_id: string | null;
};

export type ListInvoicesAnswer = {
  readonly invoices: readonly ({
    /** The payment provider's id */
    readonly id: string;
    /** The total, after discounts and with taxes, in the currency's smallest unit */
    readonly amount: number;
    /** ISO 4217, in lower case */
    readonly currency: string;
    readonly status: "draft" | "open" | "paid" | "void" | "uncollectible";
    readonly created: string;
    readonly pdf_url: string | null;
  })[];
  readonly next_cursor?: string;
};

export type ReadHealthAnswer = {
  readonly status: "ok";
};

export type ReadProtectedResourceAnswer = {
  /** The address under which the API was asked. */
  readonly resource: string;
  readonly authorization_servers: readonly string[];
  /** Scopes that a client requests. */
  readonly scopes_supported: readonly string[];
  readonly bearer_methods_supported: readonly ("header")[];
  /** The public client of the command line at the provider. */
  readonly windlass_client_id: string;
};

/** Arguments of {@link Operations.registerWorkflow}. */
export interface RegisterWorkflowRequest {
  /** Where to register it; `global` needs an operator. */
  readonly scope?: "user" | "tenant" | "global";
  /** Replace a version that exists with other content. */
  readonly force?: boolean;
  readonly body: string;
}

/** Body of the answer of {@link Operations.registerWorkflow}. */
export type RegisterWorkflowReply = WorkflowRegistration;

/** Arguments of {@link Operations.listWorkflows}. */
export interface ListWorkflowsRequest {
  /** Only those of this scope. */
  readonly scope?: "user" | "tenant" | "global";
  /** Only those with these labels: `key=value`, up to 20 with commas between them. */
  readonly label?: string;
  /** Only workflows whose name and description hold each of these words. */
  readonly q?: string;
  /** Workflows a page; more than 200 counts as 200. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** Body of the answer of {@link Operations.listWorkflows}. */
export type ListWorkflowsReply = ListWorkflowsAnswer;

/** Arguments of {@link Operations.readWorkflow}. */
export interface ReadWorkflowRequest {
  /** Name or id of the workflow. */
  readonly workflow: string;
  /** Look only there. Default: your own workflows, then those of the tenant, then global ones. */
  readonly scope?: "user" | "tenant" | "global";
  /** A stored version instead of the newest. */
  readonly version?: string;
}

/** Body of the answer of {@link Operations.readWorkflow}. */
export type ReadWorkflowReply = WorkflowDefinition;

/** Arguments of {@link Operations.deleteWorkflow}. */
export interface DeleteWorkflowRequest {
  /** Name or id of the workflow. */
  readonly workflow: string;
  /** Look only there. Default: your own workflows, then those of the tenant, then global ones. */
  readonly scope?: "user" | "tenant" | "global";
}

/** Body of the answer of {@link Operations.deleteWorkflow}. */
export type DeleteWorkflowReply = DeleteWorkflowAnswer;

/** Arguments of {@link Operations.listWorkflowVersions}. */
export interface ListWorkflowVersionsRequest {
  /** Name or id of the workflow. */
  readonly workflow: string;
  /** Look only there. Default: your own workflows, then those of the tenant, then global ones. */
  readonly scope?: "user" | "tenant" | "global";
}

/** Body of the answer of {@link Operations.listWorkflowVersions}. */
export type ListWorkflowVersionsReply = ListWorkflowVersionsAnswer;

/** Arguments of {@link Operations.promoteWorkflow}. */
export interface PromoteWorkflowRequest {
  /** Name or id of the workflow. */
  readonly workflow: string;
  /** Where to. */
  readonly scope?: "tenant" | "global";
  /** Register it over another workflow of that name, as a newer version or in place of the same one. */
  readonly force?: boolean;
}

/** Body of the answer of {@link Operations.promoteWorkflow}. */
export type PromoteWorkflowReply = WorkflowIdentity;

/** Arguments of {@link Operations.demoteWorkflow}. */
export interface DemoteWorkflowRequest {
  /** Name or id of the workflow. */
  readonly workflow: string;
  /** Where to. */
  readonly scope?: "tenant" | "user";
  /** Register it over another workflow of that name, as a newer version or in place of the same one. */
  readonly force?: boolean;
}

/** Body of the answer of {@link Operations.demoteWorkflow}. */
export type DemoteWorkflowReply = WorkflowIdentity;

/** Arguments of {@link Operations.listExecutions}. */
export interface ListExecutionsRequest {
  /** Only executions of this workflow, by name or id. */
  readonly workflow?: string;
  /** Only executions in this status. */
  readonly status?: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled";
  /**
   * List what the archive holds, the last to end first, also of executions that are gone. A page may then be
   * short, or empty, and have a next one.
   */
  readonly archived?: boolean;
  /** Executions a page; more than 200 counts as 200. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** Body of the answer of {@link Operations.listExecutions}. */
export type ListExecutionsReply = ListExecutionsAnswer;

/** Arguments of {@link Operations.startExecution}. */
export interface StartExecutionRequest {
  /** Any text that this caller uses for this one start. */
  readonly idempotencyKey?: string;
  readonly body: StartExecutionBody;
}

/** Body of the answer of {@link Operations.startExecution}. */
export type StartExecutionReply = StartExecutionAnswer;

/** Arguments of {@link Operations.readExecution}. */
export interface ReadExecutionRequest {
  /** Id of the execution, or its name in Kubernetes. */
  readonly execution_id: string;
  /**
   * Put large parts in their places, up to 10 MiB in all: `final_output` first, then the Blackboard by its keys.
   * Parts that do not fit any more stay references.
   */
  readonly full?: boolean;
}

/** Body of the answer of {@link Operations.readExecution}. */
export type ReadExecutionReply = Execution;

/** Arguments of {@link Operations.deleteExecution}. */
export interface DeleteExecutionRequest {
  /** Id of the execution, or its name in Kubernetes. */
  readonly execution_id: string;
}

/** Body of the answer of {@link Operations.deleteExecution}. */
export type DeleteExecutionReply = DeleteExecutionAnswer;

/** Arguments of {@link Operations.cancelExecution}. */
export interface CancelExecutionRequest {
  /** Id of the execution, or its name in Kubernetes. */
  readonly execution_id: string;
  readonly body?: CancelExecutionBody;
}

/** Body of the answer of {@link Operations.cancelExecution}. */
export type CancelExecutionReply = CancelExecutionAnswer;

/** Arguments of {@link Operations.signalExecution}. */
export interface SignalExecutionRequest {
  /** Id of the execution, or its name in Kubernetes. */
  readonly execution_id: string;
  readonly body: SignalExecutionBody;
}

/** Body of the answer of {@link Operations.signalExecution}. */
export type SignalExecutionReply = SignalExecutionAnswer;

/** Arguments of {@link Operations.streamExecution}. */
export interface StreamExecutionRequest {
  /** Id of the execution, or its name in Kubernetes. */
  readonly execution_id: string;
  /** The id of the last event that was received; empty: from the start. */
  readonly lastEventId?: string;
}

/** Data of an event of {@link Operations.streamExecution}. */
export type StreamExecutionEvent = ExecutionEvent;

/** Arguments of {@link Operations.readExecutionLogs}. */
export interface ReadExecutionLogsRequest {
  /** Id of the execution, or its name in Kubernetes. */
  readonly execution_id: string;
  /** Only of this state. */
  readonly state?: string;
  /** Only of this visit of the state. */
  readonly visit?: number;
  /** Only of this step of a parallel state. */
  readonly step?: string;
  /** Only this stream. */
  readonly stream?: "stdout" | "stderr";
  /** Continue until the execution ends, or the state or visit that was named. */
  readonly follow?: boolean;
}

/** Arguments of {@link Operations.rerunExecution}. */
export interface RerunExecutionRequest {
  /** Id of the execution, or its name in Kubernetes. */
  readonly execution_id: string;
  readonly body?: RerunExecutionBody;
}

/** Body of the answer of {@link Operations.rerunExecution}. */
export type RerunExecutionReply = RerunExecutionAnswer;

/** Arguments of {@link Operations.retryExecution}. */
export interface RetryExecutionRequest {
  /** Id of the execution, or its name in Kubernetes. */
  readonly execution_id: string;
  readonly body: RetryExecutionBody;
}

/** Body of the answer of {@link Operations.retryExecution}. */
export type RetryExecutionReply = RerunExecutionAnswer;

/** Arguments of {@link Operations.lookupAgent}. */
export interface LookupAgentRequest {
  /** Name of the agent. */
  readonly name: string;
}

/** Body of the answer of {@link Operations.lookupAgent}. */
export type LookupAgentReply = LookupAgentAnswer;

/** Arguments of {@link Operations.listAgents}. */
export interface ListAgentsRequest {
  /** Only agents whose name and description hold each of these words. */
  readonly q?: string;
  /** Agents a page; more than 200 counts as 200. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** Body of the answer of {@link Operations.listAgents}. */
export type ListAgentsReply = ListAgentsAnswer;

/** Arguments of {@link Operations.registerAgent}. */
export interface RegisterAgentRequest {
  /** Where to register it; `global` shares it with every tenant and needs an operator. */
  readonly scope?: "tenant" | "global";
  /** Replace a version that exists with other content. */
  readonly force?: boolean;
  readonly body: string;
}

/** Body of the answer of {@link Operations.registerAgent}. */
export type RegisterAgentReply = RegisterAgentAnswer;

/** Arguments of {@link Operations.readAgent}. */
export interface ReadAgentRequest {
  /** Id or name of the agent. */
  readonly agent: string;
  /** A stored version instead of the newest. */
  readonly version?: string;
}

/** Body of the answer of {@link Operations.readAgent}. */
export type ReadAgentReply = ReadAgentAnswer;

/** Arguments of {@link Operations.deleteAgent}. */
export interface DeleteAgentRequest {
  /** Id or name of the agent. */
  readonly agent: string;
}

/** Body of the answer of {@link Operations.deleteAgent}. */
export type DeleteAgentReply = DeleteAgentAnswer;

/** Arguments of {@link Operations.listAgentVersions}. */
export interface ListAgentVersionsRequest {
  /** Id or name of the agent. */
  readonly agent: string;
}

/** Body of the answer of {@link Operations.listAgentVersions}. */
export type ListAgentVersionsReply = ListAgentVersionsAnswer;

/** Arguments of {@link Operations.listAgentExecutions}. */
export interface ListAgentExecutionsRequest {
  /** Only executions of this agent, by name or id. */
  readonly agent?: string;
  /** Only executions in this status. */
  readonly status?: "pending" | "running" | "waiting" | "completed" | "failed" | "cancelled";
  /**
   * List what the archive holds, the last to end first, also of executions that are gone. A page may then be
   * short, or empty, and have a next one.
   */
  readonly archived?: boolean;
  /** Executions a page; more than 200 counts as 200. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** Body of the answer of {@link Operations.listAgentExecutions}. */
export type ListAgentExecutionsReply = ListAgentExecutionsAnswer;

/** Arguments of {@link Operations.startAgentExecution}. */
export interface StartAgentExecutionRequest {
  /** Any text that this caller uses for this one start. */
  readonly idempotencyKey?: string;
  readonly body: StartAgentExecutionBody;
}

/** Body of the answer of {@link Operations.startAgentExecution}. */
export type StartAgentExecutionReply = StartAgentExecutionAnswer;

/** Arguments of {@link Operations.readAgentExecution}. */
export interface ReadAgentExecutionRequest {
  /** Id of the execution, or its name in Kubernetes. */
  readonly execution_id: string;
}

/** Body of the answer of {@link Operations.readAgentExecution}. */
export type ReadAgentExecutionReply = ReadAgentExecutionAnswer;

/** Arguments of {@link Operations.deleteAgentExecution}. */
export interface DeleteAgentExecutionRequest {
  /** Id of the execution, or its name in Kubernetes. */
  readonly execution_id: string;
}

/** Body of the answer of {@link Operations.deleteAgentExecution}. */
export type DeleteAgentExecutionReply = DeleteAgentExecutionAnswer;

/** Arguments of {@link Operations.cancelAgentExecution}. */
export interface CancelAgentExecutionRequest {
  /** Id of the execution, or its name in Kubernetes. */
  readonly execution_id: string;
  readonly body?: CancelAgentExecutionBody;
}

/** Body of the answer of {@link Operations.cancelAgentExecution}. */
export type CancelAgentExecutionReply = CancelAgentExecutionAnswer;

/** Arguments of {@link Operations.readAgentTranscript}. */
export interface ReadAgentTranscriptRequest {
  /** Id of the execution, or its name in Kubernetes. */
  readonly execution_id: string;
  /** `next_cursor` of the page before; absent: the beginning. */
  readonly cursor?: string;
}

/** Body of the answer of {@link Operations.readAgentTranscript}. */
export type ReadAgentTranscriptReply = ReadAgentTranscriptAnswer;

/** Arguments of {@link Operations.streamAgentExecution}. */
export interface StreamAgentExecutionRequest {
  /** Id of the execution, or its name in Kubernetes. */
  readonly execution_id: string;
  /** The id of the last event that was received; empty: from the start. */
  readonly lastEventId?: string;
}

/** Data of an event of {@link Operations.streamAgentExecution}. */
export type StreamAgentExecutionEvent = StreamAgentExecutionAnswer;

/** Arguments of {@link Operations.followAgentConversation}. */
export interface FollowAgentConversationRequest {
  /** Id of the execution, or its name in Kubernetes. */
  readonly execution_id: string;
  /** The id of the last event that was received; empty: from the start. */
  readonly lastEventId?: string;
}

/** Data of an event of {@link Operations.followAgentConversation}. */
export type FollowAgentConversationEvent = FollowAgentConversationAnswer;

/** Arguments of {@link Operations.listHumanApprovals}. */
export interface ListHumanApprovalsRequest {
  /** Requests a page; more than 200 counts as 200. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** Body of the answer of {@link Operations.listHumanApprovals}. */
export type ListHumanApprovalsReply = ListHumanApprovalsAnswer;

/** Arguments of {@link Operations.readHumanApproval}. */
export interface ReadHumanApprovalRequest {
  /** Id of the approval request. */
  readonly id: string;
}

/** Body of the answer of {@link Operations.readHumanApproval}. */
export type ReadHumanApprovalReply = ReadHumanApprovalAnswer;

/** Arguments of {@link Operations.approveHumanApproval}. */
export interface ApproveHumanApprovalRequest {
  /** Id of the approval request. */
  readonly id: string;
  readonly body?: ApproveHumanApprovalBody;
}

/** Body of the answer of {@link Operations.approveHumanApproval}. */
export type ApproveHumanApprovalReply = ApproveHumanApprovalAnswer;

/** Arguments of {@link Operations.rejectHumanApproval}. */
export interface RejectHumanApprovalRequest {
  /** Id of the approval request. */
  readonly id: string;
  readonly body: RejectHumanApprovalBody;
}

/** Body of the answer of {@link Operations.rejectHumanApproval}. */
export type RejectHumanApprovalReply = RejectHumanApprovalAnswer;

/** Arguments of {@link Operations.listVolumes}. */
export interface ListVolumesRequest {
  /** Volumes a page; more than 200 counts as 200. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** Body of the answer of {@link Operations.listVolumes}. */
export type ListVolumesReply = ListVolumesAnswer;

/** Arguments of {@link Operations.readVolume}. */
export interface ReadVolumeRequest {
  /** Id or name of the volume. */
  readonly volume_id: string;
}

/** Body of the answer of {@link Operations.readVolume}. */
export type ReadVolumeReply = ReadVolumeAnswer;

/** Arguments of {@link Operations.deleteVolume}. */
export interface DeleteVolumeRequest {
  /** Id or name of the volume. */
  readonly volume_id: string;
}

/** Body of the answer of {@link Operations.deleteVolume}. */
export type DeleteVolumeReply = DeleteVolumeAnswer;

/** Arguments of {@link Operations.submitStimulus}. */
export interface SubmitStimulusRequest {
  /** The same as `idempotency_key` of the body; one of the two is enough. */
  readonly idempotencyKey?: string;
  readonly body: SubmitStimulusBody;
}

/** Body of the answer of {@link Operations.submitStimulus}. */
export type SubmitStimulusReply = SubmitStimulusAnswer;

/** Arguments of {@link Operations.receiveWebhook}. */
export interface ReceiveWebhookRequest {
  /** Lower-case letters, digits, `.` and `-`; at most 63. */
  readonly source: string;
  /** `sha256=` and the digest in hexadecimal. */
  readonly svcSignature?: string;
  /**
   * `sha512=` and the HMAC-SHA512 over source, line feed, idempotency key, line feed and body, in hexadecimal. Its
   * sender may use one body under several keys.
   */
  readonly svcBoundSignature?: string;
  /** The sender's id of this delivery; a second one is refused for 24 hours. */
  readonly idempotencyKey?: string;
  readonly body?: Uint8Array | string;
}

/** Body of the answer of {@link Operations.receiveWebhook}. */
export type ReceiveWebhookReply = SubmitStimulusAnswer;

/** Arguments of {@link Operations.issueEnrollmentToken}. */
export interface IssueEnrollmentTokenRequest {
  readonly body?: IssueEnrollmentTokenBody;
}

/** Body of the answer of {@link Operations.issueEnrollmentToken}. */
export type IssueEnrollmentTokenReply = IssueEnrollmentTokenAnswer;

/** Arguments of {@link Operations.listEdgeHosts}. */
export interface ListEdgeHostsRequest {
  /** Only hosts with this tag; may be repeated, the host then has all of them. */
  readonly tag?: readonly string[];
  /** Only hosts with this label, as `key=value`; may be repeated, the host then has all of them. */
  readonly label?: readonly string[];
  /** `true`: only connected hosts; `false` is the same as leaving it out. */
  readonly connected?: boolean;
  /** Hosts a page; more than 200 counts as 200. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** Body of the answer of {@link Operations.listEdgeHosts}. */
export type ListEdgeHostsReply = ListEdgeHostsAnswer;

/** Arguments of {@link Operations.readEdgeHost}. */
export interface ReadEdgeHostRequest {
  /** `node_id` of the host. */
  readonly id: string;
}

/** Body of the answer of {@link Operations.readEdgeHost}. */
export type ReadEdgeHostReply = ReadEdgeHostAnswer;

/** Arguments of {@link Operations.revokeEdgeHost}. */
export interface RevokeEdgeHostRequest {
  /** `node_id` of the host. */
  readonly id: string;
}

/** Arguments of {@link Operations.changeEdgeHost}. */
export interface ChangeEdgeHostRequest {
  /** `node_id` of the host. */
  readonly id: string;
  readonly body: ChangeEdgeHostBody;
}

/** Body of the answer of {@link Operations.changeEdgeHost}. */
export type ChangeEdgeHostReply = ReadEdgeHostAnswer;

/** Arguments of {@link Operations.tagEdgeHost}. */
export interface TagEdgeHostRequest {
  /** `node_id` of the host. */
  readonly id: string;
  readonly body: TagEdgeHostBody;
}

/** Body of the answer of {@link Operations.tagEdgeHost}. */
export type TagEdgeHostReply = ReadEdgeHostAnswer;

/** Arguments of {@link Operations.drainEdgeHost}. */
export interface DrainEdgeHostRequest {
  /** `node_id` of the host. */
  readonly id: string;
}

/** Body of the answer of {@link Operations.drainEdgeHost}. */
export type DrainEdgeHostReply = ReadEdgeHostAnswer;

/** Arguments of {@link Operations.resumeEdgeHost}. */
export interface ResumeEdgeHostRequest {
  /** `node_id` of the host. */
  readonly id: string;
}

/** Body of the answer of {@link Operations.resumeEdgeHost}. */
export type ResumeEdgeHostReply = ReadEdgeHostAnswer;

/** Arguments of {@link Operations.pushEdgeConfig}. */
export interface PushEdgeConfigRequest {
  /** `node_id` of the host. */
  readonly id: string;
  readonly body: PushEdgeConfigBody;
}

/** Body of the answer of {@link Operations.pushEdgeConfig}. */
export type PushEdgeConfigReply = PushEdgeConfigAnswer;

/** Arguments of {@link Operations.shutDownEdgeHost}. */
export interface ShutDownEdgeHostRequest {
  /** `node_id` of the host. */
  readonly id: string;
  readonly body: ShutDownEdgeHostBody;
}

/** Arguments of {@link Operations.listEdgeGroups}. */
export interface ListEdgeGroupsRequest {
  /** Groups a page; more than 200 counts as 200. Default: all. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** Body of the answer of {@link Operations.listEdgeGroups}. */
export type ListEdgeGroupsReply = ListEdgeGroupsAnswer;

/** Arguments of {@link Operations.createEdgeGroup}. */
export interface CreateEdgeGroupRequest {
  readonly body: CreateEdgeGroupBody;
}

/** Body of the answer of {@link Operations.createEdgeGroup}. */
export type CreateEdgeGroupReply = CreateEdgeGroupAnswer;

/** Arguments of {@link Operations.readEdgeGroup}. */
export interface ReadEdgeGroupRequest {
  /** `id` of the group. */
  readonly id: string;
}

/** Body of the answer of {@link Operations.readEdgeGroup}. */
export type ReadEdgeGroupReply = CreateEdgeGroupAnswer;

/** Arguments of {@link Operations.deleteEdgeGroup}. */
export interface DeleteEdgeGroupRequest {
  /** `id` of the group. */
  readonly id: string;
}

/** Arguments of {@link Operations.changeEdgeGroup}. */
export interface ChangeEdgeGroupRequest {
  /** `id` of the group. */
  readonly id: string;
  readonly body: ChangeEdgeGroupBody;
}

/** Body of the answer of {@link Operations.changeEdgeGroup}. */
export type ChangeEdgeGroupReply = CreateEdgeGroupAnswer;

/** Arguments of {@link Operations.previewFleet}. */
export interface PreviewFleetRequest {
  readonly body: PreviewFleetBody;
}

/** Body of the answer of {@link Operations.previewFleet}. */
export type PreviewFleetReply = PreviewFleetAnswer;

/** Arguments of {@link Operations.invokeFleet}. */
export interface InvokeFleetRequest {
  /** Any text that this caller uses for this one run. */
  readonly idempotencyKey?: string;
  /** The id of the last event that was received; empty: from the start. */
  readonly lastEventId?: string;
  readonly body: InvokeFleetBody;
}

/** Data of an event of {@link Operations.invokeFleet}. */
export type InvokeFleetEvent = InvokeFleetAnswer;

/** Arguments of {@link Operations.cancelFleet}. */
export interface CancelFleetRequest {
  /** Id of the fleet run. */
  readonly fleet_command_id: string;
  readonly body?: CancelFleetBody;
}

/** Body of the answer of {@link Operations.cancelFleet}. */
export type CancelFleetReply = CancelFleetAnswer;

/** Arguments of {@link Operations.listFleetRuns}. */
export interface ListFleetRunsRequest {
  /** Only runs of this tool. */
  readonly tool?: string;
  /** Only runs that ended so. */
  readonly outcome?: "complete" | "halted" | "cancelled";
  /** Runs a page; more than 200 counts as 200. */
  readonly limit?: number;
  /** `next_cursor` of the page before. */
  readonly cursor?: string;
}

/** Body of the answer of {@link Operations.listFleetRuns}. */
export type ListFleetRunsReply = ListFleetRunsAnswer;

/** Arguments of {@link Operations.readFleetRun}. */
export interface ReadFleetRunRequest {
  /** Id of the fleet run. */
  readonly fleet_command_id: string;
}

/** Body of the answer of {@link Operations.readFleetRun}. */
export type ReadFleetRunReply = ReadFleetRunAnswer;

/** Arguments of {@link Operations.issueSealToken}. */
export interface IssueSealTokenRequest {
  readonly body: IssueSealTokenBody;
}

/** Body of the answer of {@link Operations.issueSealToken}. */
export type IssueSealTokenReply = IssueSealTokenAnswer;

/** Arguments of {@link Operations.invokeTool}. */
export interface InvokeToolRequest {
  readonly body: InvokeToolBody;
}

/** Body of the answer of {@link Operations.invokeTool}. */
export type InvokeToolReply = InvokeToolAnswer;

/** Arguments of {@link Operations.invokeToolAlias}. */
export interface InvokeToolAliasRequest {
  readonly body: InvokeToolBody;
}

/** Body of the answer of {@link Operations.invokeToolAlias}. */
export type InvokeToolAliasReply = InvokeToolAnswer;

/** Body of the answer of {@link Operations.listPrices}. */
export type ListPricesReply = ListPricesAnswer;

/** Arguments of {@link Operations.createCheckout}. */
export interface CreateCheckoutRequest {
  readonly body: CreateCheckoutBody;
}

/** Body of the answer of {@link Operations.createCheckout}. */
export type CreateCheckoutReply = CreateCheckoutAnswer;

/** Arguments of {@link Operations.openPortal}. */
export interface OpenPortalRequest {
  readonly body?: OpenPortalBody;
}

/** Body of the answer of {@link Operations.openPortal}. */
export type OpenPortalReply = OpenPortalAnswer;

/** Body of the answer of {@link Operations.readSubscription}. */
export type ReadSubscriptionReply = ReadSubscriptionAnswer;

/** Arguments of {@link Operations.listInvoices}. */
export interface ListInvoicesRequest {
  /** Invoices of one answer. */
  readonly limit?: number;
  /** `next_cursor` of the answer before; without it the newest invoices. */
  readonly cursor?: string;
}

/** Body of the answer of {@link Operations.listInvoices}. */
export type ListInvoicesReply = ListInvoicesAnswer;

/** Body of the answer of {@link Operations.readHealth}. */
export type ReadHealthReply = ReadHealthAnswer;

/** Body of the answer of {@link Operations.readProtectedResource}. */
export type ReadProtectedResourceReply = ReadProtectedResourceAnswer;

/** Every operation of the API, as a method. */
export interface Operations {
  /**
   * Register a workflow
   *
   * Takes one workflow as YAML or JSON, at most 1 MiB. It is in the form of the manifest, or in that of the custom
   * resource, which keeps version, description, schemas and output template under `spec`. The same again changes
   * nothing and answers the same id. Executions under way keep the content they started with.
   *
   * `POST /v1/workflows/register`
   *
   * - 400 `invalid_manifest`: The manifest is not valid. `details` lists every problem with its path; nothing was
   *   written. `invalid_request`: A parameter, header or the body is not as described; `details` names each place.
   * - 403 `forbidden`: The role `svc:operator` or `svc:admin` is needed for the global scope, and to promote and
   *   demote.
   * - 404 `Tenant not found`: The tenant, or the global scope, has no namespace in this cluster.
   * - 409 `conflict`: The version exists with other content, and `force` was not given.
   * - 422 `limit_exceeded`: A quota of the tenant is used up.
   */
  registerWorkflow(request: RegisterWorkflowRequest, options?: CallOptions): Promise<RegisterWorkflowReply>;
  /**
   * List workflows
   *
   * The workflows that you can run, by name: your own, those of the tenant and the global ones. Where a name is in
   * several scopes, the narrowest is the one that runs.
   *
   * `GET /v1/workflows`
   *
   * - 400 `invalid_request`: The cursor was not given by this list.
   */
  listWorkflows(request?: ListWorkflowsRequest, options?: CallOptions): Promise<ListWorkflowsReply>;
  /**
   * Read a workflow
   *
   * The definition in the form of the manifest. A workflow that is named `executions` or `register` is read by its
   * id.
   *
   * `GET /v1/workflows/{workflow}`
   *
   * - 404 `Workflow not found`: Neither you, nor your tenant, nor the global scope has a workflow of that name or
   *   id. `Version not found`: The workflow has no such version; `message` lists those it has.
   */
  readWorkflow(request: ReadWorkflowRequest, options?: CallOptions): Promise<ReadWorkflowReply>;
  /**
   * Delete a workflow
   *
   * Deletes all its versions. Executions under way keep the content they started with.
   *
   * `DELETE /v1/workflows/{workflow}`
   *
   * - 403 `forbidden`: The role `svc:operator` or `svc:admin` is needed for the global scope, and to promote and
   *   demote.
   * - 404 `Workflow not found`: Neither you, nor your tenant, nor the global scope has a workflow of that name or
   *   id.
   * - 409 `conflict`: Another workflow of that name was registered meanwhile.
   */
  deleteWorkflow(request: DeleteWorkflowRequest, options?: CallOptions): Promise<DeleteWorkflowReply>;
  /**
   * List the versions of a workflow
   *
   * `GET /v1/workflows/{workflow}/versions`
   *
   * - 404 `Workflow not found`: Neither you, nor your tenant, nor the global scope has a workflow of that name or
   *   id.
   */
  listWorkflowVersions(request: ListWorkflowVersionsRequest, options?: CallOptions): Promise<ListWorkflowVersionsReply>;
  /**
   * Widen the scope of a workflow
   *
   * Moves it to a wider scope. By name it is the one of the nearest narrower scope. Executions under way are not
   * touched. May be repeated after a failure: versions in that scope stay.
   *
   * `POST /v1/workflows/{workflow}/promote`
   *
   * - 403 `forbidden`: The role `svc:operator` or `svc:admin` is needed for the global scope, and to promote and
   *   demote.
   * - 404 `Workflow not found`: Neither you, nor your tenant, nor the global scope has a workflow of that name or
   *   id. `Tenant not found`: The tenant, or the global scope, has no namespace in this cluster.
   * - 409 `conflict`: The scope it would move to has another workflow of that name, and `force` was not given; or
   *   it is beyond that scope.
   * - 422 `limit_exceeded`: A quota of the tenant is used up.
   */
  promoteWorkflow(request: PromoteWorkflowRequest, options?: CallOptions): Promise<PromoteWorkflowReply>;
  /**
   * Narrow the scope of a workflow
   *
   * Moves it into your tenant, or to you alone. By name it is the one of the nearest wider scope. Executions under
   * way are not touched. May be repeated after a failure: versions in that scope stay.
   *
   * `POST /v1/workflows/{workflow}/demote`
   *
   * - 403 `forbidden`: The role `svc:operator` or `svc:admin` is needed for the global scope, and to promote and
   *   demote.
   * - 404 `Workflow not found`: Neither you, nor your tenant, nor the global scope has a workflow of that name or
   *   id. `Tenant not found`: The tenant, or the global scope, has no namespace in this cluster.
   * - 409 `conflict`: The scope it would move to has another workflow of that name, and `force` was not given; or
   *   it is beyond that scope.
   * - 422 `limit_exceeded`: A quota of the tenant is used up.
   */
  demoteWorkflow(request: DemoteWorkflowRequest, options?: CallOptions): Promise<DemoteWorkflowReply>;
  /**
   * List executions
   *
   * The newest first, those of one second by their ids. A cursor stays valid while executions come and go: what is
   * there from the first page to the last is listed exactly once.
   *
   * `GET /v1/workflows/executions`
   *
   * - 400 `invalid_request`: The cursor was not given by this list.
   * - 503 `Archive not configured`: There is neither NATS nor an S3 bucket that records could be kept in, or the
   *   archive is turned off. `unavailable`: Something that the operation needs cannot be reached; try again.
   */
  listExecutions(request?: ListExecutionsRequest, options?: CallOptions): Promise<ListExecutionsReply>;
  /**
   * Start a workflow
   *
   * Starts a workflow of the tenant or, failing that, a global one, in the version that is newest now or the one
   * named. The input is checked against its `input_schema` before anything is created.
   *
   * With an `Idempotency-Key` a request can be sent again without starting a second execution, for as long as the
   * first one exists. The same caller, key and body are answered with the same id.
   *
   * `POST /v1/workflows/executions`
   *
   * - 404 `Workflow not found`: Neither you, nor your tenant, nor the global scope has a workflow of that name or
   *   id. `Version not found`: The workflow has no such version; `message` lists those it has. `Tenant not found`:
   *   The tenant, or the global scope, has no namespace in this cluster.
   * - 409 `conflict`: It is being deleted: a finalizer still holds the object, and nothing starts it any more.
   *   `already_exists`: The tenant has another execution of that `name`.
   * - 422 `input validation failed`: The input does not satisfy `input_schema`; nothing was created. `details`
   *   lists every failing path, of more than a hundred the first and how many others there are.
   *   `workflow_not_ready`: The definition of the workflow is not valid; `message` says why.
   *   `idempotency_key_reused`: The same key was used for another body, and that execution still exists.
   *   `limit_exceeded`: A quota of the tenant is used up.
   */
  startExecution(request: StartExecutionRequest, options?: CallOptions): Promise<StartExecutionReply>;
  /**
   * Read an execution
   *
   * Status, history, Blackboard and output of an execution. One that is gone is read from the archive, where there
   * is one: by its id, or the one that had the name last. `final_output` is there in full up to 10 MiB; a part of
   * another value that is too large is shown as `{"ref", "bytes", "truncated"}`.
   *
   * `GET /v1/workflows/executions/{execution_id}`
   *
   * - 404 `Execution not found`: The tenant has no execution of that id.
   */
  readExecution(request: ReadExecutionRequest, options?: CallOptions): Promise<ReadExecutionReply>;
  /**
   * Delete an execution
   *
   * Deletes an execution with its outputs, children and pods; this stops a running one.
   *
   * `DELETE /v1/workflows/executions/{execution_id}`
   *
   * - 404 `Execution not found`: The tenant has no execution of that id.
   */
  deleteExecution(request: DeleteExecutionRequest, options?: CallOptions): Promise<DeleteExecutionReply>;
  /**
   * Cancel an execution
   *
   * Stops an execution, its child executions and their pods. The caller is recorded. Cancelling again changes
   * nothing: the answer has the first caller and time, and the status of now.
   *
   * `POST /v1/workflows/executions/{execution_id}/cancel`
   *
   * - 404 `Execution not found`: The tenant has no execution of that id.
   * - 409 `conflict`: The execution has completed or failed.
   */
  cancelExecution(request: CancelExecutionRequest, options?: CallOptions): Promise<CancelExecutionReply>;
  /**
   * Answer a waiting Human state
   *
   * Resumes the Human state that waits, with a response that its rules compare. The execution records the subject
   * of the token. Where several arrive at the same time exactly one is taken.
   *
   * `POST /v1/workflows/executions/{execution_id}/signal`
   *
   * - 404 `Execution not found`: The tenant has no execution of that id.
   * - 409 `conflict`: No state waits, another state waits, or another caller was first; `message` says which, and
   *   who.
   * - 422 `unmatched_response`: The response matches no rule of the state that waits; nothing was written.
   *   `responses` are those that would match.
   */
  signalExecution(request: SignalExecutionRequest, options?: CallOptions): Promise<SignalExecutionReply>;
  /**
   * Follow an execution
   *
   * Server-sent events: everything that has happened from the beginning, then what happens, and at last exactly
   * one event that ends the stream. Each `data:` line is one JSON object whose only key is the type of the event.
   * A comment is sent every 15 seconds while nothing happens.
   *
   * The ids are the same on every replica and at any time: with `Last-Event-ID` the stream continues there,
   * without a gap and without a repetition. Behind the event that ends it the answer is 204, which tells clients
   * that reconnect by themselves to stop.
   *
   * `GET /v1/workflows/executions/{execution_id}/stream`
   *
   * - 204 Nothing follows the event of `Last-Event-ID`: do not ask again.
   * - 400 `invalid_request`: `Last-Event-ID` is not the id of an event of an execution.
   * - 404 `Execution not found`: The tenant has no execution of that id.
   */
  streamExecution(request: StreamExecutionRequest, options?: CallOptions): AsyncIterable<ServerEvent<StreamExecutionEvent>>;
  /**
   * Read what commands wrote
   *
   * The output of the commands of an execution: of a running one from its pod, of a finished one from the output
   * store, byte for byte. Without `stream` a finished command gives its stdout and then its stderr, a running one
   * both as they were written. Several commands follow one another in the order in which their states ran, steps
   * of a parallel state by name; nothing is put between them.
   *
   * `GET /v1/workflows/executions/{execution_id}/logs`
   *
   * - 404 `Execution not found`: The tenant has no execution of that id. `log_not_found`: No command of that
   *   state, visit or step has run; `message` lists the logs there are. Not with `follow`, which waits for it.
   */
  readExecutionLogs(request: ReadExecutionLogsRequest, options?: CallOptions): Promise<ByteStream>;
  /**
   * Run an execution again
   *
   * Starts a new execution with the same revision of the workflow, input, intent and Blackboard pairs.
   *
   * With an `input` it starts the version of the execution with that input, the same intent and the same pairs.
   * The input is checked against the `input_schema` of that version, and the new execution has no `spec.origin`.
   *
   * `POST /v1/workflows/executions/{execution_id}/rerun`
   *
   * - 404 `Execution not found`: The tenant has no execution of that id. `Workflow not found`: The execution ran a
   *   workflow of another user. `Version not found`: There is an `input`, and the version that the execution ran
   *   is no more.
   * - 409 `already_exists`: There is an execution of that name. `conflict`: The execution has not begun.
   * - 422 `input validation failed`: The `input` does not satisfy `input_schema`; nothing was created. `details`
   *   lists every failing path. `limit_exceeded`: A quota of the tenant is used up.
   */
  rerunExecution(request: RerunExecutionRequest, options?: CallOptions): Promise<RerunExecutionReply>;
  /**
   * Run an execution again from a state
   *
   * Starts a new execution in a state that the old one had entered, with its results from before its last visit
   * there. These are the Blackboard entries of the earlier visits, and the keys that are no states. Its input is
   * that of the old one, because those entries were made from it.
   *
   * `POST /v1/workflows/executions/{execution_id}/retry`
   *
   * - 404 `Execution not found`: The tenant has no execution of that id. `Workflow not found`: The execution ran a
   *   workflow of another user.
   * - 409 `already_exists`: There is an execution of that name. `conflict`: The execution has not begun, or has
   *   not ended.
   * - 422 `never_entered`: The execution never entered that state; `states` are those that it did.
   *   `limit_exceeded`: A quota of the tenant is used up.
   */
  retryExecution(request: RetryExecutionRequest, options?: CallOptions): Promise<RetryExecutionReply>;
  /**
   * Find an agent by its name
   *
   * The agent of that name in the tenant of the call. A service account names the tenant by `X-Tenant-Id`.
   *
   * `GET /v1/agents/lookup/{name}`
   *
   * - 404 `Agent not found`: The tenant has no agent of that name or id.
   */
  lookupAgent(request: LookupAgentRequest, options?: CallOptions): Promise<LookupAgentReply>;
  /**
   * List agents
   *
   * The agents of the tenant of the call, by name. Agents that all tenants share are not listed.
   *
   * `GET /v1/agents`
   *
   * - 400 `invalid_request`: The cursor was not given by this list.
   */
  listAgents(request?: ListAgentsRequest, options?: CallOptions): Promise<ListAgentsReply>;
  /**
   * Register an agent
   *
   * Takes one agent as YAML or JSON, at most 1 MiB: as a manifest, or as the custom resource, which keeps version
   * and description under `spec`. The same again changes nothing and answers the same id. Executions under way
   * keep the content they started with.
   *
   * `POST /v1/agents/register`
   *
   * - 400 `invalid_manifest`: The manifest is not valid. `details` lists every problem with its path; nothing was
   *   written. `invalid_request`: A parameter, header or the body is not as described; `details` names each place.
   * - 403 `forbidden`: The role `svc:operator` or `svc:admin` is needed for the global scope, and to promote and
   *   demote.
   * - 404 `Tenant not found`: The tenant, or the global scope, has no namespace in this cluster.
   * - 409 `conflict`: The version exists with other content, and `force` was not given.
   * - 422 `limit_exceeded`: A quota of the tenant is used up.
   */
  registerAgent(request: RegisterAgentRequest, options?: CallOptions): Promise<RegisterAgentReply>;
  /**
   * Read an agent
   *
   * The definition in the form of the manifest. An agent that is named `register` is read by its id.
   *
   * `GET /v1/agents/{agent}`
   *
   * - 404 `Agent not found`: The tenant has no agent of that name or id. `Version not found`: The workflow has no
   *   such version; `message` lists those it has.
   */
  readAgent(request: ReadAgentRequest, options?: CallOptions): Promise<ReadAgentReply>;
  /**
   * Delete an agent
   *
   * Deletes all its versions. Executions under way keep the content they started with.
   *
   * `DELETE /v1/agents/{agent}`
   *
   * - 403 `forbidden`: The role `svc:operator` or `svc:admin` is needed for the global scope, and to promote and
   *   demote.
   * - 404 `Agent not found`: The tenant has no agent of that name or id.
   * - 409 `conflict`: Another agent of that name was registered meanwhile.
   */
  deleteAgent(request: DeleteAgentRequest, options?: CallOptions): Promise<DeleteAgentReply>;
  /**
   * List the versions of an agent
   *
   * `GET /v1/agents/{agent}/versions`
   *
   * - 404 `Agent not found`: The tenant has no agent of that name or id.
   */
  listAgentVersions(request: ListAgentVersionsRequest, options?: CallOptions): Promise<ListAgentVersionsReply>;
  /**
   * List executions of agents
   *
   * The newest first, those of one second by their ids. A cursor stays valid while executions come and go.
   *
   * `GET /v1/executions`
   *
   * - 400 `invalid_request`: The cursor was not given by this list.
   * - 503 `Archive not configured`: There is neither NATS nor an S3 bucket that records could be kept in, or the
   *   archive is turned off. `unavailable`: Something that the operation needs cannot be reached; try again.
   */
  listAgentExecutions(request?: ListAgentExecutionsRequest, options?: CallOptions): Promise<ListAgentExecutionsReply>;
  /**
   * Start an agent
   *
   * Answers as soon as the execution exists; follow it by its stream. With an `Idempotency-Key` a request can be
   * sent again without starting a second execution, for as long as the first one exists.
   *
   * `POST /v1/executions`
   *
   * - 400 `Invalid agent ID`: `agent_id` is absent or no UUID. `Invalid input`: `input` is absent, no text, or too
   *   long. `invalid_request`: A parameter, header or the body is not as described; `details` names each place.
   * - 404 `Agent not found`: The tenant has no agent of that name or id. `Version not found`: The agent has no
   *   such version; `message` lists those it has. `Tenant not found`: The tenant, or the global scope, has no
   *   namespace in this cluster.
   * - 409 `conflict`: It is being deleted: a finalizer still holds the object, and nothing starts it any more.
   *   `already_exists`: Another caller has made an execution of the name of the key.
   * - 422 `idempotency_key_reused`: The same key was used for another body, and that execution still exists.
   * - 500 `<message>`: The execution failed to start: `error` says why, such as a definition that was refused, or
   *   a quota. `internal`: Something is wrong with the service.
   */
  startAgentExecution(request: StartAgentExecutionRequest, options?: CallOptions): Promise<StartAgentExecutionReply>;
  /**
   * Read an execution of an agent
   *
   * `GET /v1/executions/{execution_id}`
   *
   * - 404 `Execution not found`: The tenant has no execution of that id.
   */
  readAgentExecution(request: ReadAgentExecutionRequest, options?: CallOptions): Promise<ReadAgentExecutionReply>;
  /**
   * Delete an execution of an agent
   *
   * Deletes an execution and its pod; this stops a running one.
   *
   * `DELETE /v1/executions/{execution_id}`
   *
   * - 404 `Execution not found`: The tenant has no execution of that id.
   */
  deleteAgentExecution(request: DeleteAgentExecutionRequest, options?: CallOptions): Promise<DeleteAgentExecutionReply>;
  /**
   * Cancel an execution of an agent
   *
   * Stops an execution and its pod. Cancelling again changes nothing; the first caller and time stay.
   *
   * `POST /v1/executions/{execution_id}/cancel`
   *
   * - 404 `Execution not found`: The tenant has no execution of that id.
   * - 409 `conflict`: The execution has completed or failed.
   */
  cancelAgentExecution(request: CancelAgentExecutionRequest, options?: CallOptions): Promise<CancelAgentExecutionReply>;
  /**
   * Read the conversation of an execution
   *
   * Every record of the conversation in its order, page by page: what the model was asked and said, tool calls,
   * verdicts. Records are kept for a week, and as long as the archive keeps the execution. `next_cursor` is null
   * on the last page, which may be empty.
   *
   * `GET /v1/executions/{execution_id}/transcript`
   *
   * - 404 `Execution not found`: The tenant has no execution of that id.
   */
  readAgentTranscript(request: ReadAgentTranscriptRequest, options?: CallOptions): Promise<ReadAgentTranscriptReply>;
  /**
   * Follow an execution of an agent
   *
   * Server-sent events: everything that has happened from the beginning, then what happens, and at last exactly
   * one event that ends the stream. Each `data:` line is one JSON object whose only key is the type of the event.
   * With `Last-Event-ID` the stream continues there; behind the last one the answer is 204. An execution that was
   * cancelled or failed before its agent began has the last event alone.
   *
   * `GET /v1/executions/{execution_id}/stream`
   *
   * - 204 Nothing follows the event of `Last-Event-ID`: do not ask again.
   * - 400 `invalid_request`: `Last-Event-ID` is not the id of an event of an execution.
   * - 404 `Execution not found`: The tenant has no execution of that id.
   */
  streamAgentExecution(request: StreamAgentExecutionRequest, options?: CallOptions): AsyncIterable<ServerEvent<StreamAgentExecutionEvent>>;
  /**
   * Follow the conversation of an execution
   *
   * Server-sent events: the events of the stream and every other record of the conversation, each with `type`,
   * `time` and `data`. Pieces of text come as the model writes them. A piece of text has no id and is not sent
   * again.
   *
   * `GET /v1/executions/{execution_id}/events`
   *
   * - 204 Nothing follows the event of `Last-Event-ID`: do not ask again.
   * - 400 `invalid_request`: `Last-Event-ID` is not the id of an event of an execution.
   * - 404 `Execution not found`: The tenant has no execution of that id.
   */
  followAgentConversation(request: FollowAgentConversationRequest, options?: CallOptions): AsyncIterable<ServerEvent<FollowAgentConversationEvent>>;
  /**
   * List what waits for a decision
   *
   * `GET /v1/human-approvals`
   *
   * - 400 `invalid_request`: The cursor was not given by this list.
   */
  listHumanApprovals(request?: ListHumanApprovalsRequest, options?: CallOptions): Promise<ListHumanApprovalsReply>;
  /**
   * Read what waits for a decision
   *
   * A request that is decided, expired or unknown answers 200 as well, with `error` = `Request not found or
   * already completed`.
   *
   * `GET /v1/human-approvals/{id}`
   *
   * - 400 `Invalid request ID`: The id is not a UUID. `invalid_request`: A parameter, header or the body is not as
   *   described; `details` names each place.
   */
  readHumanApproval(request: ReadHumanApprovalRequest, options?: CallOptions): Promise<ReadHumanApprovalReply>;
  /**
   * Approve
   *
   * Signals `approved` to the execution; a tool call of an agent runs then. Exactly one of several decisions
   * answers 200. Feedback on a tool call has at most 8,192 characters.
   *
   * `POST /v1/human-approvals/{id}/approve`
   *
   * - 400 `Invalid request ID`: The id is not a UUID. `invalid_request`: A parameter, header or the body is not as
   *   described; `details` names each place.
   * - 404 `Request not found or already completed`: The request is decided, expired, cancelled, of another tenant,
   *   or never was.
   * - 422 `unmatched_response`: The response matches no rule of the state that waits; nothing was written.
   *   `responses` are those that would match.
   */
  approveHumanApproval(request: ApproveHumanApprovalRequest, options?: CallOptions): Promise<ApproveHumanApprovalReply>;
  /**
   * Reject
   *
   * Signals `rejected` to the execution; the model of an agent reads the reason. Exactly one of several decisions
   * answers 200. A reason on a tool call has at most 8,192 characters.
   *
   * `POST /v1/human-approvals/{id}/reject`
   *
   * - 400 `Invalid request ID`: The id is not a UUID. `invalid_request`: A parameter, header or the body is not as
   *   described; `details` names each place.
   * - 404 `Request not found or already completed`: The request is decided, expired, cancelled, of another tenant,
   *   or never was.
   * - 422 `unmatched_response`: The response matches no rule of the state that waits; nothing was written.
   *   `responses` are those that would match.
   */
  rejectHumanApproval(request: RejectHumanApprovalRequest, options?: CallOptions): Promise<RejectHumanApprovalReply>;
  /**
   * List volumes
   *
   * `GET /v1/volumes`
   *
   * - 400 `invalid_request`: The cursor was not given by this list.
   */
  listVolumes(request?: ListVolumesRequest, options?: CallOptions): Promise<ListVolumesReply>;
  /**
   * Read a volume
   *
   * `GET /v1/volumes/{volume_id}`
   *
   * - 404 `Volume not found`: The tenant has no volume of that id.
   */
  readVolume(request: ReadVolumeRequest, options?: CallOptions): Promise<ReadVolumeReply>;
  /**
   * Delete a volume
   *
   * Deletes a volume and its data; a claim that was made elsewhere stays. A step that has it mounted keeps it
   * until it ends.
   *
   * `DELETE /v1/volumes/{volume_id}`
   *
   * - 404 `Volume not found`: The tenant has no volume of that id.
   */
  deleteVolume(request: DeleteVolumeRequest, options?: CallOptions): Promise<DeleteVolumeReply>;
  /**
   * Submit a stimulus
   *
   * Hands an event to the workflow that a StimulusRouter of the tenant names for its source. Content that is a
   * JSON object becomes the input of the execution; any other content becomes `{"content": …}`, and text is its
   * intent too.
   *
   * `POST /v1/stimuli`
   *
   * - 409 `idempotent_duplicate`: A stimulus with the same source and idempotency key was accepted within the last
   *   24 hours.
   * - 413 `payload_too_large`: The body, or the content as JSON, is larger than an execution can hold (1 MiB).
   * - 422 `no_router_configured`: No StimulusRouter routes the source, and the tenant has no router agent.
   *   `classification_failed`: The router agent was not sure enough, failed, or took too long.
   * - 429 `idempotency_share_used`: The tenant has its share of the idempotency keys that are remembered;
   *   `Retry-After` says when the first ends. `rate_limited`: The tenant has sent too many requests.
   * - 500 `workflow_error`: The workflow could not be started; `message` and `details` say why. The idempotency
   *   key is free again. `internal`: Something is wrong with the service.
   */
  submitStimulus(request: SubmitStimulusRequest, options?: CallOptions): Promise<SubmitStimulusReply>;
  /**
   * Receive a webhook
   *
   * Takes a body of any content type. The signature is HMAC-SHA256 over the bytes as they were sent. A body that
   * is JSON becomes that value, other UTF-8 text a string, anything else `{"base64": …, "content_type": …}`. It is
   * decoded first where `Content-Encoding` is gzip, deflate or br, up to 10 MiB; under another coding it stays
   * bytes.
   *
   * `POST /v1/webhooks/{source}`
   *
   * - 400 `malformed_signature`: `X-Svc-Signature` is not `sha256=<hex>`, `X-Svc-Bound-Signature` not
   *   `sha512=<hex>`, or one was sent twice. `invalid_hex`: The text behind `sha256=` or `sha512=` is not
   *   hexadecimal. `invalid_request`: A parameter, header or the body is not as described; `details` names each
   *   place.
   * - 401 `missing_signature`: `X-Svc-Signature` is absent or empty. `secret_not_found`: No secret is configured
   *   for the source. `invalid_signature`: A signature is not that of the body under the secret.
   * - 409 `signature_reused`: A delivery with this signature was accepted under another source or idempotency key
   *   within the last 24 hours. `idempotent_duplicate`: A stimulus with the same source and idempotency key was
   *   accepted within the last 24 hours.
   * - 413 `payload_too_large`: The body, or the content as JSON, is larger than an execution can hold (1 MiB).
   * - 422 `no_router_configured`: No StimulusRouter routes the source, and the tenant has no router agent.
   *   `classification_failed`: The router agent was not sure enough, failed, or took too long.
   * - 429 `idempotency_share_used`: The tenant has its share of the idempotency keys that are remembered;
   *   `Retry-After` says when the first ends. `rate_limited`: The tenant has sent too many requests.
   * - 500 `workflow_error`: The workflow could not be started; `message` and `details` say why. The idempotency
   *   key is free again. `internal`: Something is wrong with the service.
   */
  receiveWebhook(request: ReceiveWebhookRequest, options?: CallOptions): Promise<ReceiveWebhookReply>;
  /**
   * Issue an enrollment token
   *
   * A token with which one host enrolls, once, within its life. Needs the scope `svc.edge.enroll`, and for a team
   * the rights of an administrator of that team. The token is shown here and nowhere else.
   *
   * `POST /v1/edge/enrollment-tokens`
   *
   * - 400 `invalid_request`: `ttl_seconds` is not 1 to 900, or `team_tenant_id` is unknown.
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.enroll`, or is no administrator of the team.
   * - 404 `Tenant not found`: The tenant, or the global scope, has no namespace in this cluster.
   * - 503 `unavailable`: Edge mode is off in this installation, or starting; try again.
   */
  issueEnrollmentToken(request?: IssueEnrollmentTokenRequest, options?: CallOptions): Promise<IssueEnrollmentTokenReply>;
  /**
   * List hosts
   *
   * The hosts of the tenant, the newest first. Filters are joined by "and". A cursor stays valid while hosts come
   * and go. Needs the scope `svc.edge.hosts.read`.
   *
   * `GET /v1/edge/hosts`
   *
   * - 400 `invalid_request`: The cursor was not given by this list.
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.hosts.read`, or belongs to no tenant.
   */
  listEdgeHosts(request?: ListEdgeHostsRequest, options?: CallOptions): Promise<ListEdgeHostsReply>;
  /**
   * Read a host
   *
   * Needs the scope `svc.edge.hosts.read`.
   *
   * `GET /v1/edge/hosts/{id}`
   *
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.hosts.read`, or belongs to no tenant.
   * - 404 `Host not found`: The tenant has no host of that id.
   */
  readEdgeHost(request: ReadEdgeHostRequest, options?: CallOptions): Promise<ReadEdgeHostReply>;
  /**
   * Revoke a host
   *
   * For good: its token counts no more, its stream is dropped, and its commands end. Revoking again is answered in
   * the same way. Needs the scope `svc.edge.hosts.write`.
   *
   * `DELETE /v1/edge/hosts/{id}`
   *
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.hosts.write`, or belongs to no tenant.
   * - 404 `Host not found`: The tenant has no host of that id.
   * - 409 `conflict`: Others change the host at the same time; try again.
   */
  revokeEdgeHost(request: RevokeEdgeHostRequest, options?: CallOptions): Promise<void>;
  /**
   * Rename a host, or replace its tags
   *
   * Fields that are left out stay as they are. Needs the scope `svc.edge.hosts.write`.
   *
   * `PATCH /v1/edge/hosts/{id}`
   *
   * - 400 `invalid_request`: Its tags and labels would have more than 4096 characters, where each counts as 32
   *   more.
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.hosts.write`, or belongs to no tenant.
   * - 404 `Host not found`: The tenant has no host of that id.
   * - 409 `conflict`: Others change the host at the same time; try again.
   */
  changeEdgeHost(request: ChangeEdgeHostRequest, options?: CallOptions): Promise<ChangeEdgeHostReply>;
  /**
   * Add and remove tags of a host
   *
   * At once: first `add`, then `remove`. Tags keep their order, and each stays once. Needs the scope
   * `svc.edge.hosts.write`.
   *
   * `POST /v1/edge/hosts/{id}/tags`
   *
   * - 400 `invalid_request`: The host would have more than 50 tags. Its tags and labels would have more than 4096
   *   characters, where each counts as 32 more.
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.hosts.write`, or belongs to no tenant.
   * - 404 `Host not found`: The tenant has no host of that id.
   * - 409 `conflict`: Others change the host at the same time; try again.
   */
  tagEdgeHost(request: TagEdgeHostRequest, options?: CallOptions): Promise<TagEdgeHostReply>;
  /**
   * Drain a host
   *
   * No run targets the host any more. The host takes no new commands, and ends those that it has. A host that is
   * away receives the order when it comes back. Needs the scope `svc.edge.hosts.write`.
   *
   * `POST /v1/edge/hosts/{id}/drain`
   *
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.hosts.write`, or belongs to no tenant.
   * - 404 `Host not found`: The tenant has no host of that id.
   * - 409 `conflict`: Others change the host at the same time; try again.
   */
  drainEdgeHost(request: DrainEdgeHostRequest, options?: CallOptions): Promise<DrainEdgeHostReply>;
  /**
   * End the draining of a host
   *
   * Runs target the host again. A daemon that has drained takes commands once it is restarted. Needs the scope
   * `svc.edge.hosts.write`.
   *
   * `DELETE /v1/edge/hosts/{id}/drain`
   *
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.hosts.write`, or belongs to no tenant.
   * - 404 `Host not found`: The tenant has no host of that id.
   * - 409 `conflict`: Others change the host at the same time; try again.
   */
  resumeEdgeHost(request: ResumeEdgeHostRequest, options?: CallOptions): Promise<ResumeEdgeHostReply>;
  /**
   * Push configuration to a host
   *
   * A JSON merge patch over the labels and security contexts of the host's configuration, which counts before the
   * next command. The host refuses what does not fit, and its log says why. Needs the scope
   * `svc.edge.hosts.write`.
   *
   * `POST /v1/edge/hosts/{id}/config`
   *
   * - 400 `invalid_request`: The change is too large.
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.hosts.write`, or belongs to no tenant.
   * - 404 `Host not found`: The tenant has no host of that id.
   * - 503 `unavailable`: No relay holds a stream of the host, or it is not known whether the host has the order:
   *   it may be repeated.
   */
  pushEdgeConfig(request: PushEdgeConfigRequest, options?: CallOptions): Promise<PushEdgeConfigReply>;
  /**
   * Stop the daemon of a host
   *
   * Commands under way get the grace, are then cancelled, and the daemon ends. It connects again when it is
   * started. Needs the scope `svc.edge.hosts.write`.
   *
   * `POST /v1/edge/hosts/{id}/shutdown`
   *
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.hosts.write`, or belongs to no tenant.
   * - 404 `Host not found`: The tenant has no host of that id.
   * - 503 `unavailable`: No relay holds a stream of the host, or it is not known whether the host has the order:
   *   it may be repeated.
   */
  shutDownEdgeHost(request: ShutDownEdgeHostRequest, options?: CallOptions): Promise<void>;
  /**
   * List groups of hosts
   *
   * The groups of the tenant, by name. Without `limit` the answer has all of them, unless they take more than 8
   * MiB. Needs the scope `svc.edge.hosts.read` or `svc.edge.groups.write`.
   *
   * `GET /v1/edge/groups`
   *
   * - 400 `invalid_request`: The cursor was not given by this list.
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.hosts.read` or `svc.edge.groups.write`, or belongs to
   *   no tenant.
   */
  listEdgeGroups(request?: ListEdgeGroupsRequest, options?: CallOptions): Promise<ListEdgeGroupsReply>;
  /**
   * Make a group of hosts
   *
   * Needs the scope `svc.edge.groups.write`.
   *
   * `POST /v1/edge/groups`
   *
   * - 400 `invalid_request`: The tenant has no host of an id in `pinned_members`, or nothing says which hosts
   *   belong to the group.
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.groups.write`, or belongs to no tenant.
   * - 404 `Tenant not found`: The tenant, or the global scope, has no namespace in this cluster.
   * - 422 `limit_exceeded`: A quota of the tenant is used up.
   */
  createEdgeGroup(request: CreateEdgeGroupRequest, options?: CallOptions): Promise<CreateEdgeGroupReply>;
  /**
   * Read a group of hosts
   *
   * Its hosts are those of now. Needs the scope `svc.edge.hosts.read` or `svc.edge.groups.write`.
   *
   * `GET /v1/edge/groups/{id}`
   *
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.hosts.read` or `svc.edge.groups.write`, or belongs to
   *   no tenant.
   * - 404 `Group not found`: The tenant has no group of that id.
   */
  readEdgeGroup(request: ReadEdgeGroupRequest, options?: CallOptions): Promise<ReadEdgeGroupReply>;
  /**
   * Delete a group of hosts
   *
   * Its hosts stay, and runs that began keep their hosts. Needs the scope `svc.edge.groups.write`.
   *
   * `DELETE /v1/edge/groups/{id}`
   *
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.groups.write`, or belongs to no tenant.
   * - 404 `Group not found`: The tenant has no group of that id.
   */
  deleteEdgeGroup(request: DeleteEdgeGroupRequest, options?: CallOptions): Promise<void>;
  /**
   * Change a group of hosts
   *
   * Fields that are left out stay as they are. Needs the scope `svc.edge.groups.write`.
   *
   * `PATCH /v1/edge/groups/{id}`
   *
   * - 400 `invalid_request`: The tenant has no host of an id in `pinned_members`, or nothing says which hosts
   *   belong to the group.
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.groups.write`, or belongs to no tenant.
   * - 404 `Group not found`: The tenant has no group of that id.
   * - 409 `conflict`: Others change the group at the same time; try again.
   */
  changeEdgeGroup(request: ChangeEdgeGroupRequest, options?: CallOptions): Promise<ChangeEdgeGroupReply>;
  /**
   * Show which hosts a target is
   *
   * The hosts of now; nothing is dispatched. Needs the scope `svc.edge.fleet.read`.
   *
   * `POST /v1/edge/fleet/preview`
   *
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.fleet.read`, or belongs to no tenant.
   */
  previewFleet(request: PreviewFleetRequest, options?: CallOptions): Promise<PreviewFleetReply>;
  /**
   * Run a tool on hosts
   *
   * Server-sent events: output and result of each host as they come, `error` where the run is refused or halted,
   * and `fleet_result` at last. The header `X-Fleet-Command-Id` has the id of the run, which is in the history
   * from its start and continues when the client leaves. With an `Idempotency-Key` the same request sent again
   * starts no second run: it follows the first one, after the event of `Last-Event-ID`. Needs the scope
   * `svc.edge.fleet.manage`.
   *
   * `POST /v1/edge/fleet/invoke`
   *
   * - 204 Nothing follows the event of `Last-Event-ID`: do not ask again.
   * - 400 `tool is not fleet capable`: The tool works on a single host, and the target is no `Node`.
   *   `invalid_request`: Target, tool, arguments or policy are not as described, or `Last-Event-ID` is not the id
   *   of an event.
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.fleet.manage`, or belongs to no tenant.
   * - 404 `Tenant not found`: The tenant, or the global scope, has no namespace in this cluster.
   * - 409 `already_exists`: Another caller has made a run of the name of the key.
   * - 422 `idempotency_key_reused`: The same key was used for another body, and that run still exists.
   *   `limit_exceeded`: A quota of the tenant is used up.
   * - 503 `unavailable`: The tool gateway cannot be asked whether a fleet can run the tool.
   */
  invokeFleet(request: InvokeFleetRequest, options?: CallOptions): AsyncIterable<ServerEvent<InvokeFleetEvent>>;
  /**
   * Cancel a fleet run
   *
   * Cancels every command that is in flight; hosts that have an outcome keep it. For a run that has ended
   * `cancelled` is 0. Needs the scope `svc.edge.fleet.manage`.
   *
   * `POST /v1/edge/fleet/{fleet_command_id}/cancel`
   *
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.fleet.manage`, or belongs to no tenant.
   * - 404 `Fleet run not found`: The tenant has no fleet run of that id.
   * - 409 `conflict`: Others change the run at the same time; try again.
   * - 503 `unavailable`: The cancellation is written, and the controllers have not taken it up yet; read the run.
   */
  cancelFleet(request: CancelFleetRequest, options?: CallOptions): Promise<CancelFleetReply>;
  /**
   * List fleet runs
   *
   * The newest first, those of one second by their ids. Runs are kept for a week. Needs the scope
   * `svc.edge.fleet.read`.
   *
   * `GET /v1/edge/fleet/runs`
   *
   * - 400 `invalid_request`: The cursor was not given by this list.
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.fleet.read`, or belongs to no tenant.
   */
  listFleetRuns(request?: ListFleetRunsRequest, options?: CallOptions): Promise<ListFleetRunsReply>;
  /**
   * Read a fleet run
   *
   * With the outcome and the end of the output of each host. Needs the scope `svc.edge.fleet.read`.
   *
   * `GET /v1/edge/fleet/runs/{fleet_command_id}`
   *
   * - 403 `forbidden`: The caller lacks the scope `svc.edge.fleet.read`, or belongs to no tenant.
   * - 404 `Fleet run not found`: The tenant has no fleet run of that id.
   */
  readFleetRun(request: ReadFleetRunRequest, options?: CallOptions): Promise<ReadFleetRunReply>;
  /**
   * Issue a token for a session of the tool gateway
   *
   * A token of the SEAL issuer for the tenant of the call. `POST /v1/seal/sessions` of the tool gateway takes it;
   * alone it permits nothing. Needs the role `svc:operator` or `svc:admin`. The token is shown here and nowhere
   * else.
   *
   * `POST /v1/seal/tokens`
   *
   * - 403 `forbidden`: The caller is no operator.
   * - 404 `Tenant not found`: The tenant, or the global scope, has no namespace in this cluster.
   */
  issueSealToken(request: IssueSealTokenRequest, options?: CallOptions): Promise<IssueSealTokenReply>;
  /**
   * Call a tool
   *
   * Takes a signed envelope (docs/tools.md), which proves by itself who calls: no bearer token is needed. Refusals
   * of calls are JSON-RPC objects.
   *
   * `POST /v1/seal/invoke`
   *
   * - 400 `-32600`: The envelope is malformed, or names no tool.
   * - 401 `-32000`: The session has expired, or the token, the signature (`data.code` 1004) or the timestamp
   *   (1003) is not good, or the call was made before.
   * - 403 `-32000`: The session is not active, the session or a policy does not permit the call, or the call names
   *   another tenant. With `data.error` `OutcomeUnknown`: the session was revoked while the call ran.
   * - 413 `-32600`: The envelope has more than 2097152 bytes.
   * - 422 `-32602`: A required argument is missing or null, or an argument is of the wrong type.
   * - 429 `-32000`: The tenant has made too many calls, or its bodies and answers have its share of bytes.
   * - 500 `-32603`: Something is wrong with the service. With `data.error` `OutcomeUnknown`: the call took too
   *   long, and may have run.
   * - 503 `-32603`: Something that the call needs cannot be reached; try again.
   */
  invokeTool(request: InvokeToolRequest, options?: CallOptions): Promise<InvokeToolReply>;
  /**
   * Call a tool
   *
   * Takes a signed envelope (docs/tools.md), which proves by itself who calls: no bearer token is needed. Refusals
   * of calls are JSON-RPC objects.
   *
   * `POST /v1/invoke`
   *
   * - 400 `-32600`: The envelope is malformed, or names no tool.
   * - 401 `-32000`: The session has expired, or the token, the signature (`data.code` 1004) or the timestamp
   *   (1003) is not good, or the call was made before.
   * - 403 `-32000`: The session is not active, the session or a policy does not permit the call, or the call names
   *   another tenant. With `data.error` `OutcomeUnknown`: the session was revoked while the call ran.
   * - 413 `-32600`: The envelope has more than 2097152 bytes.
   * - 422 `-32602`: A required argument is missing or null, or an argument is of the wrong type.
   * - 429 `-32000`: The tenant has made too many calls, or its bodies and answers have its share of bytes.
   * - 500 `-32603`: Something is wrong with the service. With `data.error` `OutcomeUnknown`: the call took too
   *   long, and may have run.
   * - 503 `-32603`: Something that the call needs cannot be reached; try again.
   */
  invokeToolAlias(request: InvokeToolAliasRequest, options?: CallOptions): Promise<InvokeToolAliasReply>;
  /**
   * List what can be bought
   *
   * At most a minute old. docs/billing.md says how products and prices are set up at the payment provider.
   *
   * `GET /v1/billing/prices`
   *
   * - 501 `payment_provider_not_configured`: This installation has no key of a payment provider. Checked before
   *   anything else in the request.
   * - 502 `payment_provider_error`: The payment provider refused, or could not be reached.
   * - 503 `payment_provider_busy`: The payment provider takes no more requests at the moment; `Retry-After` says
   *   when to try again. `unavailable`: Something that the operation needs cannot be reached; try again.
   */
  listPrices(options?: CallOptions): Promise<ListPricesReply>;
  /**
   * Begin to buy a subscription
   *
   * Opens a hosted checkout for the tenant. Nothing is paid before the user has finished it there.
   *
   * `POST /v1/billing/checkout`
   *
   * - 404 `not_found`: The tenant that the call is scoped to is not set up.
   * - 409 `already_subscribed`: The tenant has an active subscription. The portal changes it; a second one would
   *   be paid twice.
   * - 501 `payment_provider_not_configured`: This installation has no key of a payment provider. Checked before
   *   anything else in the request.
   * - 502 `payment_provider_error`: The payment provider refused, or could not be reached.
   * - 503 `payment_provider_busy`: The payment provider takes no more requests at the moment; `Retry-After` says
   *   when to try again. `unavailable`: Something that the operation needs cannot be reached; try again.
   */
  createCheckout(request: CreateCheckoutRequest, options?: CallOptions): Promise<CreateCheckoutReply>;
  /**
   * Open the customer portal
   *
   * Payment methods, invoices, changes and cancellation are on pages of the payment provider.
   *
   * `POST /v1/billing/portal`
   *
   * - 404 `not_found`: The tenant that the call is scoped to is not set up.
   * - 501 `payment_provider_not_configured`: This installation has no key of a payment provider. Checked before
   *   anything else in the request.
   * - 502 `payment_provider_error`: The payment provider refused, or could not be reached.
   * - 503 `payment_provider_busy`: The payment provider takes no more requests at the moment; `Retry-After` says
   *   when to try again. `unavailable`: Something that the operation needs cannot be reached; try again.
   */
  openPortal(request?: OpenPortalRequest, options?: CallOptions): Promise<OpenPortalReply>;
  /**
   * Read the tenant's subscription
   *
   * Statuses `active`, `trialing` and `past_due` entitle to the tier that was bought; under any other the tier is
   * `free`. A tenant that never bought anything has the tier `free` and null in every other field.
   *
   * `GET /v1/billing/subscription`
   *
   * - 501 `payment_provider_not_configured`: This installation has no key of a payment provider. Checked before
   *   anything else in the request.
   * - 502 `payment_provider_error`: The payment provider refused, or could not be reached.
   * - 503 `payment_provider_busy`: The payment provider takes no more requests at the moment; `Retry-After` says
   *   when to try again. `unavailable`: Something that the operation needs cannot be reached; try again.
   */
  readSubscription(options?: CallOptions): Promise<ReadSubscriptionReply>;
  /**
   * List the tenant's invoices
   *
   * Newest first.
   *
   * `GET /v1/billing/invoices`
   *
   * - 501 `payment_provider_not_configured`: This installation has no key of a payment provider. Checked before
   *   anything else in the request.
   * - 502 `payment_provider_error`: The payment provider refused, or could not be reached.
   * - 503 `payment_provider_busy`: The payment provider takes no more requests at the moment; `Retry-After` says
   *   when to try again. `unavailable`: Something that the operation needs cannot be reached; try again.
   */
  listInvoices(request?: ListInvoicesRequest, options?: CallOptions): Promise<ListInvoicesReply>;
  /**
   * Tell whether the service runs
   *
   * `GET /health`
   */
  readHealth(options?: CallOptions): Promise<ReadHealthReply>;
  /**
   * Tell where tokens come from
   *
   * The metadata of RFC 9728: which provider issues the tokens that this API accepts, and to whom.
   *
   * `GET /.well-known/oauth-protected-resource`
   */
  readProtectedResource(options?: CallOptions): Promise<ReadProtectedResourceReply>;
}

/** Facts of each operation for the runtime. */
export const operations: Readonly<Record<keyof Operations, Operation>> = {
  registerWorkflow: {"method":"POST","path":"/v1/workflows/register","bearer":true,"query":["scope","force"],"headers":{},"mediaType":"application/yaml","reply":"json"},
  listWorkflows: {"method":"GET","path":"/v1/workflows","bearer":true,"query":["scope","label","q","limit","cursor"],"headers":{},"reply":"json"},
  readWorkflow: {"method":"GET","path":"/v1/workflows/{workflow}","bearer":true,"query":["scope","version"],"headers":{},"reply":"json"},
  deleteWorkflow: {"method":"DELETE","path":"/v1/workflows/{workflow}","bearer":true,"query":["scope"],"headers":{},"reply":"json"},
  listWorkflowVersions: {"method":"GET","path":"/v1/workflows/{workflow}/versions","bearer":true,"query":["scope"],"headers":{},"reply":"json"},
  promoteWorkflow: {"method":"POST","path":"/v1/workflows/{workflow}/promote","bearer":true,"query":["scope","force"],"headers":{},"reply":"json"},
  demoteWorkflow: {"method":"POST","path":"/v1/workflows/{workflow}/demote","bearer":true,"query":["scope","force"],"headers":{},"reply":"json"},
  listExecutions: {"method":"GET","path":"/v1/workflows/executions","bearer":true,"query":["workflow","status","archived","limit","cursor"],"headers":{},"reply":"json"},
  startExecution: {"method":"POST","path":"/v1/workflows/executions","bearer":true,"query":[],"headers":{"idempotencyKey":"idempotency-key"},"mediaType":"application/json","reply":"json"},
  readExecution: {"method":"GET","path":"/v1/workflows/executions/{execution_id}","bearer":true,"query":["full"],"headers":{},"reply":"json"},
  deleteExecution: {"method":"DELETE","path":"/v1/workflows/executions/{execution_id}","bearer":true,"query":[],"headers":{},"reply":"json"},
  cancelExecution: {"method":"POST","path":"/v1/workflows/executions/{execution_id}/cancel","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  signalExecution: {"method":"POST","path":"/v1/workflows/executions/{execution_id}/signal","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  streamExecution: {"method":"GET","path":"/v1/workflows/executions/{execution_id}/stream","bearer":true,"query":[],"headers":{"lastEventId":"last-event-id"},"reply":"events","lastEvents":["workflow_execution_completed","workflow_execution_failed","workflow_execution_cancelled","workflow_execution_deleted"]},
  readExecutionLogs: {"method":"GET","path":"/v1/workflows/executions/{execution_id}/logs","bearer":true,"query":["state","visit","step","stream","follow"],"headers":{},"reply":"bytes"},
  rerunExecution: {"method":"POST","path":"/v1/workflows/executions/{execution_id}/rerun","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  retryExecution: {"method":"POST","path":"/v1/workflows/executions/{execution_id}/retry","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  lookupAgent: {"method":"GET","path":"/v1/agents/lookup/{name}","bearer":true,"query":[],"headers":{},"reply":"json"},
  listAgents: {"method":"GET","path":"/v1/agents","bearer":true,"query":["q","limit","cursor"],"headers":{},"reply":"json"},
  registerAgent: {"method":"POST","path":"/v1/agents/register","bearer":true,"query":["scope","force"],"headers":{},"mediaType":"application/yaml","reply":"json"},
  readAgent: {"method":"GET","path":"/v1/agents/{agent}","bearer":true,"query":["version"],"headers":{},"reply":"json"},
  deleteAgent: {"method":"DELETE","path":"/v1/agents/{agent}","bearer":true,"query":[],"headers":{},"reply":"json"},
  listAgentVersions: {"method":"GET","path":"/v1/agents/{agent}/versions","bearer":true,"query":[],"headers":{},"reply":"json"},
  listAgentExecutions: {"method":"GET","path":"/v1/executions","bearer":true,"query":["agent","status","archived","limit","cursor"],"headers":{},"reply":"json"},
  startAgentExecution: {"method":"POST","path":"/v1/executions","bearer":true,"query":[],"headers":{"idempotencyKey":"idempotency-key"},"mediaType":"application/json","reply":"json"},
  readAgentExecution: {"method":"GET","path":"/v1/executions/{execution_id}","bearer":true,"query":[],"headers":{},"reply":"json"},
  deleteAgentExecution: {"method":"DELETE","path":"/v1/executions/{execution_id}","bearer":true,"query":[],"headers":{},"reply":"json"},
  cancelAgentExecution: {"method":"POST","path":"/v1/executions/{execution_id}/cancel","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  readAgentTranscript: {"method":"GET","path":"/v1/executions/{execution_id}/transcript","bearer":true,"query":["cursor"],"headers":{},"reply":"json"},
  streamAgentExecution: {"method":"GET","path":"/v1/executions/{execution_id}/stream","bearer":true,"query":[],"headers":{"lastEventId":"last-event-id"},"reply":"events","lastEvents":["execution_completed","execution_failed","execution_cancelled","execution_deleted"]},
  followAgentConversation: {"method":"GET","path":"/v1/executions/{execution_id}/events","bearer":true,"query":[],"headers":{"lastEventId":"last-event-id"},"reply":"events","lastEvents":["execution_completed","execution_failed","execution_cancelled","execution_deleted"]},
  listHumanApprovals: {"method":"GET","path":"/v1/human-approvals","bearer":true,"query":["limit","cursor"],"headers":{},"reply":"json"},
  readHumanApproval: {"method":"GET","path":"/v1/human-approvals/{id}","bearer":true,"query":[],"headers":{},"reply":"json"},
  approveHumanApproval: {"method":"POST","path":"/v1/human-approvals/{id}/approve","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  rejectHumanApproval: {"method":"POST","path":"/v1/human-approvals/{id}/reject","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  listVolumes: {"method":"GET","path":"/v1/volumes","bearer":true,"query":["limit","cursor"],"headers":{},"reply":"json"},
  readVolume: {"method":"GET","path":"/v1/volumes/{volume_id}","bearer":true,"query":[],"headers":{},"reply":"json"},
  deleteVolume: {"method":"DELETE","path":"/v1/volumes/{volume_id}","bearer":true,"query":[],"headers":{},"reply":"json"},
  submitStimulus: {"method":"POST","path":"/v1/stimuli","bearer":true,"query":[],"headers":{"idempotencyKey":"idempotency-key"},"mediaType":"application/json","reply":"json"},
  receiveWebhook: {"method":"POST","path":"/v1/webhooks/{source}","bearer":false,"query":[],"headers":{"svcSignature":"x-svc-signature","svcBoundSignature":"x-svc-bound-signature","idempotencyKey":"x-idempotency-key"},"mediaType":"application/octet-stream","reply":"json"},
  issueEnrollmentToken: {"method":"POST","path":"/v1/edge/enrollment-tokens","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  listEdgeHosts: {"method":"GET","path":"/v1/edge/hosts","bearer":true,"query":["tag","label","connected","limit","cursor"],"headers":{},"reply":"json"},
  readEdgeHost: {"method":"GET","path":"/v1/edge/hosts/{id}","bearer":true,"query":[],"headers":{},"reply":"json"},
  revokeEdgeHost: {"method":"DELETE","path":"/v1/edge/hosts/{id}","bearer":true,"query":[],"headers":{},"reply":"none"},
  changeEdgeHost: {"method":"PATCH","path":"/v1/edge/hosts/{id}","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  tagEdgeHost: {"method":"POST","path":"/v1/edge/hosts/{id}/tags","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  drainEdgeHost: {"method":"POST","path":"/v1/edge/hosts/{id}/drain","bearer":true,"query":[],"headers":{},"reply":"json"},
  resumeEdgeHost: {"method":"DELETE","path":"/v1/edge/hosts/{id}/drain","bearer":true,"query":[],"headers":{},"reply":"json"},
  pushEdgeConfig: {"method":"POST","path":"/v1/edge/hosts/{id}/config","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  shutDownEdgeHost: {"method":"POST","path":"/v1/edge/hosts/{id}/shutdown","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"none"},
  listEdgeGroups: {"method":"GET","path":"/v1/edge/groups","bearer":true,"query":["limit","cursor"],"headers":{},"reply":"json"},
  createEdgeGroup: {"method":"POST","path":"/v1/edge/groups","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  readEdgeGroup: {"method":"GET","path":"/v1/edge/groups/{id}","bearer":true,"query":[],"headers":{},"reply":"json"},
  deleteEdgeGroup: {"method":"DELETE","path":"/v1/edge/groups/{id}","bearer":true,"query":[],"headers":{},"reply":"none"},
  changeEdgeGroup: {"method":"PATCH","path":"/v1/edge/groups/{id}","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  previewFleet: {"method":"POST","path":"/v1/edge/fleet/preview","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  invokeFleet: {"method":"POST","path":"/v1/edge/fleet/invoke","bearer":true,"query":[],"headers":{"idempotencyKey":"idempotency-key","lastEventId":"last-event-id"},"mediaType":"application/json","reply":"events","lastEvents":["fleet_result"]},
  cancelFleet: {"method":"POST","path":"/v1/edge/fleet/{fleet_command_id}/cancel","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  listFleetRuns: {"method":"GET","path":"/v1/edge/fleet/runs","bearer":true,"query":["tool","outcome","limit","cursor"],"headers":{},"reply":"json"},
  readFleetRun: {"method":"GET","path":"/v1/edge/fleet/runs/{fleet_command_id}","bearer":true,"query":[],"headers":{},"reply":"json"},
  issueSealToken: {"method":"POST","path":"/v1/seal/tokens","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  invokeTool: {"method":"POST","path":"/v1/seal/invoke","bearer":false,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  invokeToolAlias: {"method":"POST","path":"/v1/invoke","bearer":false,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  listPrices: {"method":"GET","path":"/v1/billing/prices","bearer":true,"query":[],"headers":{},"reply":"json"},
  createCheckout: {"method":"POST","path":"/v1/billing/checkout","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  openPortal: {"method":"POST","path":"/v1/billing/portal","bearer":true,"query":[],"headers":{},"mediaType":"application/json","reply":"json"},
  readSubscription: {"method":"GET","path":"/v1/billing/subscription","bearer":true,"query":[],"headers":{},"reply":"json"},
  listInvoices: {"method":"GET","path":"/v1/billing/invoices","bearer":true,"query":["limit","cursor"],"headers":{},"reply":"json"},
  readHealth: {"method":"GET","path":"/health","bearer":false,"query":[],"headers":{},"reply":"json"},
  readProtectedResource: {"method":"GET","path":"/.well-known/oauth-protected-resource","bearer":false,"query":[],"headers":{},"reply":"json"},
};
