import { type Captured, CaptureError, outputText, type Trailer } from '../../lib/capture/index.ts';
import type { ContainerStateTerminated, Pod } from '../../lib/kube/index.ts';
import { textOrRaw } from '../../lib/output-store/raw-text.ts';
import { stepState } from '../../lib/pod-slot.ts';
import type { Failure, StepOutcome } from './facts.ts';
import { noResult } from './outcome.ts';

/** What a verified capture says of a step. */
export function outcomeOfCapture({ trailer, stdout, stderr }: Captured, pod: Pod): StepOutcome {
  const failure = failureOf(trailer, pod);
  return {
    exitCode: trailer.exit_code,
    stdout: textOrRaw(stdout, outputText),
    stderr: textOrRaw(stderr, outputText),
    stdoutTruncated: trailer.stdout.truncated,
    stderrTruncated: trailer.stderr.truncated,
    durationMs: trailer.duration_ms,
    ...(failure === undefined ? {} : { failure }),
  };
}

/**
 * What is known of a step whose log could not be taken in full: the kubelet's word on how the container ended, and as
 * much output as there is. It has failed, whatever its exit code, because output is lost.
 */
export function outcomeOfLoss(error: unknown, pod: Pod): StepOutcome {
  const streams = error instanceof CaptureError ? error.streams : undefined;
  const terminated = stepState(pod)?.terminated;
  return {
    ...noResult(lossOf(error, terminated)),
    exitCode: terminated?.exitCode ?? -1,
    stdout: streams === undefined ? '' : textOrRaw(streams.stdout, outputText),
    stderr: streams === undefined ? '' : textOrRaw(streams.stderr, outputText),
  };
}

function lossOf(error: unknown, terminated: ContainerStateTerminated | undefined): Failure {
  if (terminated?.reason === 'OOMKilled') return { reason: 'OutOfMemory', message: 'the container ran out of memory' };
  const message = error instanceof Error ? error.message : String(error);
  return { reason: 'CaptureFailed', message: `exit code ${terminated?.exitCode ?? 'unknown'}; ${message}` };
}

/** Reasons that the runner gives with a sentence of its own (runner/README.md). */
const runnerReasons: Readonly<Record<string, Failure['reason']>> = {
  not_found: 'CommandNotFound',
  not_executable: 'CommandNotFound',
  workdir: 'ContainerStartFailed',
  start_failed: 'ContainerStartFailed',
};

function failureOf({ exit_code: exitCode, reason = '', error, signal }: Trailer, pod: Pod): Failure | undefined {
  const known = runnerReasons[reason];
  if (known !== undefined) return { reason: known, message: error ?? `exit code ${exitCode}` };
  if (reason === 'timeout') return { reason: 'ContainerTimeout', message: 'the command took longer than its timeout' };
  if (isOutOfMemory(pod)) return { reason: 'OutOfMemory', message: 'the command ran out of memory' };
  if (reason === 'terminated')
    return { reason: 'PodDeleted', message: 'the pod was told to stop before the command had ended' };
  if (exitCode === 0) return undefined;
  return {
    reason: 'ExitCode',
    message: signal === undefined ? `exit code ${exitCode}` : `exit code ${exitCode} (${signal})`,
  };
}

const isOutOfMemory = (pod: Pod): boolean => stepState(pod)?.terminated?.reason === 'OOMKilled';
