import type { ExecutionReason } from '../../crds/conditions.ts';
import { ownerNameLabels } from '../../crds/labels.ts';
import type { ContainerFields } from '../../crds/schema/container.ts';
import type { Pod } from '../../lib/kube/index.ts';
import { labelValue } from '../../lib/pod-slot.ts';
import type { RawText } from '../../lib/output-store/raw-text.ts';

/**
 * The object that a step runs for. Its pods are in its namespace, whose tenant pays for them, and Kubernetes deletes them
 * with it.
 */
export interface StepOwner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
  /** On each of its pods. `windlass.dev/execution-uid` must be the owner's uid: the policy `step-pods` guards that label. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Which pod of its owner: the same name for the same step, so that it is made once. */
export interface StepPodName {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

interface OwnerOfPod {
  readonly kind: string;
  /** `namespace/name`. */
  readonly key: string;
}

/**
 * Whose step a pod runs, or ran, by the labels that the policy `step-pods` guards. A reference gives the name only where a
 * label is too short for it.
 */
export function podOwner({ metadata }: Pod): OwnerOfPod | undefined {
  const { namespace, labels: found, ownerReferences } = metadata;
  for (const [kind, label] of Object.entries(ownerNameLabels)) {
    const value = found?.[label];
    if (value === undefined) continue;
    const owner = ownerReferences?.find((one) => one.kind === kind && labelValue(one.name) === value);
    return { kind, key: `${namespace}/${owner?.name ?? value}` };
  }
  return undefined;
}

/** The key of the owner of a pod, where it is of this kind. */
export function ownerKey(pod: Pod, kind: string): string | undefined {
  const owner = podOwner(pod);
  return owner?.kind === kind ? owner.key : undefined;
}

/** The value of the index `owner` for the pods of one owner. */
export const ownedBy = (kind: string, key: string): string => `${kind} ${key}`;

/** A mount of a claim, already resolved. */
export interface PlannedMount {
  readonly claim: string;
  readonly mountPath: string;
  readonly readOnly: boolean;
}

/**
 * The plan of one pod: templates rendered, volumes resolved. Everything that a user may choose about a pod is
 * here; the pod builder adds the rest from an allowlist (design §6).
 */
export interface StepPlan {
  /** Absent: the image for System commands that the operator configured. */
  readonly image?: string;
  readonly imagePullPolicy: NonNullable<ContainerFields['image_pull_policy']>;
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly workdir: string;
  readonly mounts: readonly PlannedMount[];
  readonly cpuMillis?: number | undefined;
  readonly memory?: string | undefined;
  readonly registryCredentials?: string | undefined;
  /** Hard limit of the command, in milliseconds. */
  readonly timeoutMs: number;
}

/** The plan of a pod, or why there is none, such as a volume that has expired. */
export type PlanOrFailure = StepPlan | { readonly failure: Failure };

/** A failure that a person reads: a reason from `crds/conditions.ts` and one sentence. */
export interface Failure {
  readonly reason: ExecutionReason;
  readonly message: string;
}

/** Outcome of one container. Streams hold at most 1 MiB each; output that is no UTF-8 is a RawText. */
export interface StepOutcome {
  readonly exitCode: number;
  readonly stdout: string | RawText;
  readonly stderr: string | RawText;
  /** Whether the stream was longer than what is kept (requirements AMB-079). */
  readonly stdoutTruncated: boolean;
  readonly stderrTruncated: boolean;
  readonly durationMs: number;
  /** Set when the command did not end with 0, or it is not known how it ended. */
  readonly failure?: Failure;
  /** Why output is missing from the streams, or not proven to be the command's. */
  readonly lost?: string;
}

/** Why a pod has not begun to run, in Kubernetes' own words. */
export interface Waiting extends Failure {
  /** From when on that is worth showing, in milliseconds since the epoch: a pod needs a moment even where all is well. */
  readonly since: number;
}

/** A step's pod as far as deciding needs it. */
export interface PodObservation {
  readonly name: string;
  readonly uid: string;
  /** Holds the capture finalizer. */
  readonly held: boolean;
  readonly deleting: boolean;
  /** Nothing of the pod runs any more, or its command has ended and the rest follows by itself. */
  readonly ended: boolean;
  /** Its node does not answer: no kubelet will confirm that it stopped. */
  readonly lost: boolean;
  /** When a silent pod in deletion counts as lost, in milliseconds since the epoch. */
  readonly silentUntil?: number | undefined;
  /** When its container began to run by the node's clock, in milliseconds since the epoch; absent: it has not. */
  readonly begunAt?: number | undefined;
  /** When its container had ended by the node's clock, in milliseconds since the epoch; absent: that is not known. */
  readonly endedAt?: number | undefined;
  /** Reason for which it waits before its container can run. */
  readonly waiting?: Waiting | undefined;
  /** Absent while the command runs, or its output is being read. */
  readonly outcome?: StepOutcome | undefined;
}

/** Output of a command that wrote nothing, or never ran. */
export const noOutput = { stdout: '', stderr: '', stdoutTruncated: false, stderrTruncated: false, durationMs: 0 };

/** A container that never ran or whose result is not known; its exit code is -1. */
export const noResult = (failure: Failure): StepOutcome => ({ ...noOutput, exitCode: -1, failure });
