import type { ExecutionReason } from '../../crds/conditions.ts';
import type { RawText } from '../../lib/output-store/raw-text.ts';

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
