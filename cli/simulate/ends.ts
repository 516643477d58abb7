import type { SimulatedAnswer } from './answer.ts';

/** How long each command and agent takes. */
export const commandMs = 1_000;

/** Without an answer a command succeeds and prints nothing. */
export function commandEnd({ exit_code: exitCode = 0, stdout = '', stderr = '' }: SimulatedAnswer = {}) {
  const outcome = { exitCode, stdout, stderr, stdoutTruncated: false, stderrTruncated: false, durationMs: commandMs };
  if (exitCode === 0) return outcome;
  return { ...outcome, failure: { reason: 'ExitCode', message: `exit code ${exitCode}` } } as const;
}

/** A tool that says that it failed says so on standard error. */
export function toolEnd({ exit_code: exitCode = 0, stdout = '', stderr = '' }: SimulatedAnswer = {}) {
  if (exitCode === 0) return { phase: 'completed', answer: { content: stdout, truncated: false } } as const;
  const why = { reason: 'ToolFailed', message: stderr };
  return { phase: 'failed', why, answer: { content: stderr, truncated: false } } as const;
}

/** Result of an agent; a judge's final text is its verdict. */
export function agentEnd(answer: SimulatedAnswer = {}, judge: number | undefined) {
  const { status: phase = 'completed', output, score, confidence, reasoning } = answer;
  const verdict = judge === undefined ? '' : JSON.stringify({ score: score ?? 1, confidence, reasoning });
  return { phase, output: output ?? verdict, score, confidence, iterations: 1 };
}
