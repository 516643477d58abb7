import { type Captured, isProven } from '../../lib/capture/capture.ts';
import { CaptureError } from '../../lib/capture/capture-error.ts';
import { outputText } from '../../lib/capture/output-text.ts';
import { parseTerminationMessage } from '../../lib/capture/parse-trailer.ts';
import type { Trailer } from '../../lib/capture/trailer.ts';
import { messageOf } from '../../lib/errors.ts';
import type { ContainerStateTerminated, Pod } from '../../lib/kube/index.ts';
import { textOrRaw } from '../../lib/output-store/raw-text.ts';
import { stepState } from '../../lib/pod-slot.ts';
import { disruptionOf } from './disruption.ts';
import { type Failure, type StepOutcome, noOutput, noResult } from './step.ts';

/** Outcome of a step from a verified capture. */
export function outcomeOfCapture({ trailer, stdout, stderr }: Captured, pod: Pod): StepOutcome {
  return { ...endOf(trailer, pod), stdout: textOrRaw(stdout, outputText), stderr: textOrRaw(stderr, outputText) };
}

/**
 * Whether a trailer says all there is to know. A command that got a signal, and failed, did so for a reason that the
 * pod's object gives, at the latest when the kubelet says that its container has ended.
 */
export const isConclusive = ({ reason, exit_code: exitCode }: Trailer, pod: Pod): boolean =>
  reason !== 'terminated' ||
  exitCode === 0 ||
  pod.metadata.deletionTimestamp !== undefined ||
  stepState(pod)?.terminated !== undefined;

/**
 * Outcome of a step whose log could not be taken in full. The runner's termination message, or else the kubelet,
 * says how the command ended, and that counts; the output is the part that fits the runner's hash.
 */
export function outcomeOfLoss(error: unknown, pod: Pod): StepOutcome {
  const captured = error instanceof CaptureError ? error : undefined;
  const terminated = stepState(pod)?.terminated;
  const trailer = captured?.trailer ?? trailerOf(terminated);
  if (trailer === undefined) return unexplained(error, pod, terminated);
  const kept = (name: 'stdout' | 'stderr') => {
    const bytes = captured?.streams[name] ?? new Uint8Array();
    return isProven(bytes, trailer[name]) ? bytes : undefined;
  };
  const [stdout, stderr] = [kept('stdout'), kept('stderr')];
  return {
    ...endOf(trailer, pod),
    stdout: stdout === undefined ? '' : textOrRaw(stdout, outputText),
    stderr: stderr === undefined ? '' : textOrRaw(stderr, outputText),
    ...(stdout === undefined || stderr === undefined ? { lost: messageOf(error) } : {}),
  };
}

/**
 * The runner's last word in the container's status: certainly its own, if it agrees with the kubelet on the exit code.
 */
function trailerOf(terminated: ContainerStateTerminated | undefined): Trailer | undefined {
  try {
    const trailer = parseTerminationMessage(terminated?.message ?? '');
    return trailer.exit_code === terminated?.exitCode ? trailer : undefined;
  } catch (error) {
    if (error instanceof CaptureError) return undefined;
    throw error;
  }
}

/** The runner itself was killed, or never ran: the kubelet alone says how that ended. */
function unexplained(error: unknown, pod: Pod, terminated: ContainerStateTerminated | undefined): StepOutcome {
  const streams = error instanceof CaptureError ? error.streams : undefined;
  const failure = unexplainedFailure(error, pod, terminated);
  return {
    ...(failure === undefined ? noOutput : noResult(failure)),
    exitCode: terminated?.exitCode ?? -1,
    stdout: streams === undefined ? '' : textOrRaw(wholeLines(streams.stdout), outputText),
    stderr: streams === undefined ? '' : textOrRaw(streams.stderr, outputText),
    lost: messageOf(error),
  };
}

function unexplainedFailure(
  error: unknown,
  pod: Pod,
  terminated: ContainerStateTerminated | undefined,
): Failure | undefined {
  if (terminated?.exitCode === 0) return undefined;
  if (terminated?.reason === 'OOMKilled') return { reason: 'OutOfMemory', message: 'the container ran out of memory' };
  return (
    disruptionOf(pod) ??
    deletion(pod) ?? {
      reason: 'CaptureFailed',
      message: `exit code ${terminated?.exitCode ?? 'unknown'}; ${messageOf(error)}`,
    }
  );
}

const lineFeed = 0x0a;

/**
 * A runner writes whole lines. Text behind the last of them in a log that breaks off is the kubelet's own, which
 * answers with its troubles in the place of the log.
 */
const wholeLines = (bytes: Uint8Array): Uint8Array => bytes.subarray(0, bytes.lastIndexOf(lineFeed) + 1);

/** The outcome that a trailer gives, but for the streams. */
function endOf(trailer: Trailer, pod: Pod): StepOutcome {
  const failure = failureOf(trailer, pod);
  return {
    ...noOutput,
    exitCode: trailer.exit_code,
    stdoutTruncated: trailer.stdout.truncated,
    stderrTruncated: trailer.stderr.truncated,
    durationMs: trailer.duration_ms,
    ...(failure === undefined ? {} : { failure }),
  };
}

/** Reasons that the runner gives with a sentence of its own (runner/README.md). */
const runnerReasons: Readonly<Record<string, Failure['reason']>> = {
  not_found: 'CommandNotFound',
  not_executable: 'CommandNotFound',
  workdir: 'ContainerStartFailed',
  start_failed: 'ContainerStartFailed',
};

function failureOf(trailer: Trailer, pod: Pod): Failure | undefined {
  const { exit_code: exitCode, reason = '' } = trailer;
  const known = runnerReasons[reason];
  if (known !== undefined) return { reason: known, message: trailer.error ?? `exit code ${exitCode}` };
  if (reason === 'timeout') return { reason: 'ContainerTimeout', message: 'the command took longer than its timeout' };
  if (exitCode === 0) return undefined;
  const stopped = reason === 'terminated' ? (disruptionOf(pod) ?? deletion(pod)) : undefined;
  return outOfMemory(trailer, pod) ?? stopped ?? { reason: 'ExitCode', message: exitText(trailer) };
}

function outOfMemory({ oom_killed: killed, exit_code: exitCode }: Trailer, pod: Pod): Failure | undefined {
  if (killed !== true && stepState(pod)?.terminated?.reason !== 'OOMKilled') return undefined;
  const message = `a process used more memory than the step may, and the kernel killed it; exit code ${exitCode}`;
  return { reason: 'OutOfMemory', message };
}

function deletion({ metadata }: Pod): Failure | undefined {
  if (metadata.deletionTimestamp === undefined) return undefined;
  return { reason: 'PodDeleted', message: 'the pod was deleted before the command had ended' };
}

/** A process of the container may tell its first process to stop; no outside party has a part in that. */
function exitText({ exit_code: exitCode, signal, reason }: Trailer): string {
  const by = reason === 'terminated' ? ', after a signal from within the container' : '';
  return signal === undefined ? `exit code ${exitCode}${by}` : `exit code ${exitCode} (${signal})${by}`;
}
