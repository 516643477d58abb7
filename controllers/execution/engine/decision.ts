import type { AgentExecutionSpec } from '../../../crds/schema/agent-execution.ts';
import type { ToolCallSpec } from '../../../crds/schema/tool-call.ts';
import type { VolumeSpec } from '../../../crds/schema/volume.ts';
import type { WorkflowExecutionSpec } from '../../../crds/schema/workflow-execution.ts';
import type { WorkflowExecutionStatus } from '../../../crds/schema/workflow-execution-status.ts';
import type { Blob, BlobLocator } from '../../../lib/output-store/blob.ts';
import type { ExecutionPlan } from '../../../lib/execution/build-execution.ts';
import type { PodSlot } from '../../../lib/pod-slot.ts';
import type { ArchiveAction } from '../../archiving/decide-archiving.ts';
import type { PodStop } from '../../step-pods/release-pod.ts';
import type { StepPlan } from '../../step-pods/step.ts';
import type { Failure, Made } from './facts.ts';

/** A fact that deciding turned out to depend on. */
export type Need =
  | { readonly kind: 'blob'; readonly locator: string }
  /** The result of a child that has ended. */
  | { readonly kind: 'child'; readonly uid: string }
  /** The final text of an agent that has ended. */
  | { readonly kind: 'agent'; readonly uid: string }
  /** The answer of a tool call that has ended. */
  | { readonly kind: 'tool_call'; readonly uid: string }
  /** An object as the API server has it: the watch may be behind. */
  | { readonly kind: 'made'; readonly made: Made }
  /** A volume that the workflow does not declare. */
  | { readonly kind: 'volume'; readonly uid: string }
  | { readonly kind: 'workflow'; readonly workflow: string };

/** Changes to the world. Plain data with deterministic names: doing it twice changes nothing. */
export type Action =
  | { readonly kind: 'create_pod'; readonly slot: PodSlot; readonly plan: StepPlan }
  /** Reads what the pod has to say: the log of its command, or the Events of one that waits. Changes nothing. */
  | { readonly kind: 'follow_pod'; readonly name: string; readonly uid: string; readonly source: 'log' | 'events' }
  /** Tells the pod to stop; its output is still wanted. */
  | { readonly kind: 'stop_pod'; readonly name: string; readonly uid: string }
  /** Lets go of a pod whose output is recorded or not wanted, after stopping what still runs of it. */
  | { readonly kind: 'release_pod'; readonly name: string; readonly uid: string; readonly stop?: PodStop }
  | {
      readonly kind: 'create_child';
      readonly name: string;
      readonly spec: WorkflowExecutionSpec;
      /** The child is deleted with the execution. */
      readonly owned: boolean;
    }
  /** Starts an agent. It is deleted with the execution. */
  | { readonly kind: 'create_agent'; readonly name: string; readonly spec: AgentExecutionSpec }
  | { readonly kind: 'cancel_agent'; readonly name: string; readonly uid: string; readonly reason: string }
  /** Calls a tool, once. The call is deleted with the execution. */
  | { readonly kind: 'create_tool_call'; readonly name: string; readonly spec: ToolCallSpec }
  | { readonly kind: 'cancel_tool_call'; readonly name: string; readonly uid: string; readonly reason: string }
  /** Starts the execution that the end of this one starts. */
  | { readonly kind: 'create_linked'; readonly plan: ExecutionPlan & { readonly name: string } }
  | { readonly kind: 'cancel_child'; readonly name: string; readonly uid: string; readonly reason: string }
  | {
      readonly kind: 'create_volume';
      readonly name: string;
      /** Its name in the workflow. */
      readonly declared: string;
      readonly spec: VolumeSpec;
      readonly owned: boolean;
    }
  | ArchiveAction
  /** `unarchived`: why there is no record of it. */
  | { readonly kind: 'delete_execution'; readonly unarchived?: string };

/** Happenings of the execution, for Kubernetes Events. */
export interface Happening {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** The next status, what must be stored before it is written, and what to do after. */
export interface Decision {
  readonly kind: 'decision';
  readonly status: WorkflowExecutionStatus;
  readonly blobs: readonly Blob[];
  /** Blobs of another execution that must be kept for this one, located as the other one reads them. */
  readonly adopted: readonly BlobLocator[];
  readonly actions: readonly Action[];
  readonly happenings: readonly Happening[];
  /** When to look again though nothing has happened, in milliseconds since the epoch. */
  readonly wakeAt?: number;
}

/** Deciding takes more than one turn may: what is at fault if it was alone in the turn (design §11). */
export interface Exceeded {
  readonly kind: 'exceeded';
  readonly failure: Failure;
  /** Nothing else was done in the turn. */
  readonly alone: boolean;
}

/** Deciding needs more facts: load them and decide again. */
export interface NeedsFacts {
  readonly kind: 'needs';
  readonly needs: readonly Need[];
}
