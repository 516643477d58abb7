import type { Failure, StepOutcome } from './observation.ts';

/** Output of a command that wrote nothing, or never ran. */
export const noOutput = { stdout: '', stderr: '', stdoutTruncated: false, stderrTruncated: false, durationMs: 0 };

/** A container that never ran or whose result is not known; its exit code is -1. */
export const noResult = (failure: Failure): StepOutcome => ({ ...noOutput, exitCode: -1, failure });
