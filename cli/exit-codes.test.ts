import { describe, expect, it } from 'vitest';
import { exitCodeOfEnd, exitCodes } from './exit-codes.ts';

describe('the end of an execution as an exit code', () => {
  it.each([
    { phase: 'completed', reason: 'Completed', want: exitCodes.ok },
    { phase: 'completed', reason: 'LastStateFailed', want: exitCodes.failed },
    { phase: 'failed', reason: 'ExitCode', want: exitCodes.failed },
    { phase: 'cancelled', reason: 'Cancelled', want: exitCodes.cancelled },
  ] as const)('AMB-169 of $phase with $reason is $want', ({ want, ...status }) => {
    expect(exitCodeOfEnd(status)).toBe(want);
  });
});
