import type { ContainerFields } from '../../crds/schema/container.ts';
import type { Failure } from './observation.ts';

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
