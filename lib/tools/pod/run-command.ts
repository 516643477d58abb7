import { answer, failure } from '../answers.ts';
import { type CommandCeilings, commandProblem, wantedSeconds } from '../command-policy.ts';
import { workspace } from '../path-rules.ts';
import type { DispatchPlan, DispatchResult, ToolAnswer, ToolArguments, ToolCaller, ToolRun } from '../tool.ts';

/** Exit code of the runner where it ended the command after its time. */
const exitTimeout = 124;

/** `cmd.run`: a command in the container of the execution (spec 3 §10.5). */
export function runCommand(ceilings: CommandCeilings): ToolRun {
  const secondsOf = (caller: ToolCaller): number =>
    Math.min(wantedSeconds(caller) ?? ceilings.timeoutSeconds, ceilings.timeoutSeconds);
  return {
    kind: 'pod',
    problem: (caller, args) => commandProblem(caller, args, ceilings),
    plan: (caller, { command, args }): DispatchPlan => ({
      command: command as string,
      args: (args ?? []) as readonly string[],
      cwd: workspace,
      env_additions: caller.agent?.spec.env ?? {},
      timeout_secs: secondsOf(caller),
      max_output_bytes: ceilings.maxOutputBytes,
    }),
    answer: (caller, _args: ToolArguments, result): ToolAnswer =>
      limitProblem(result, ceilings, secondsOf(caller)) ??
      answer(JSON.stringify({ stdout: result.stdout, stderr: result.stderr, exit_code: result.exit_code })),
  };
}

function limitProblem(result: DispatchResult, ceilings: CommandCeilings, seconds: number): ToolAnswer | undefined {
  if (result.exit_code === exitTimeout && result.duration_ms >= seconds * 1_000)
    return failure('ExecTimeoutCeilingExceeded', `the command was ended after ${seconds} s; make it do less`);
  const bytes = Buffer.byteLength(result.stdout) + Buffer.byteLength(result.stderr);
  if (!result.truncated && bytes <= ceilings.maxOutputBytes) return undefined;
  return failure('OutputSizeLimitExceeded', `the command wrote more than ${ceilings.maxOutputBytes} bytes; print less`);
}
