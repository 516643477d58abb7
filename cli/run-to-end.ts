import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import { finished, succeeded } from '../lib/execution/finished.ts';
import { hasLogs } from '../lib/execution/log-source.ts';
import { answerCommands } from './answer-commands.ts';
import type { Backend } from './backends/backend.ts';
import { CliError, type ExitCode, exitCodeOfEnd, exitCodes } from './exit-codes.ts';
import { printedObject } from './print-object.ts';
import { newlyWaiting } from './progress.ts';
import type { CommandContext } from './command-context.ts';
import { awaitExecution, type Until, watchExecution } from './watch-execution.ts';

/** Shows the execution until it ends, then its output. The exit code is that of its last phase. */
export async function watchToEnd(context: CommandContext, execution: WorkflowExecution): Promise<ExitCode> {
  const backend = await context.backend();
  const end = await watchExecution({ ...context, backend }, execution, context.interrupted);
  return end === undefined ? interrupted(context, backend, execution) : ended(context, backend, end);
}

/** Waits for the end in silence except for a decision that a person must make; then prints the output. */
export async function waitToEnd(
  context: CommandContext,
  execution: WorkflowExecution,
  timeoutMs?: number,
): Promise<ExitCode> {
  const backend = await context.backend();
  const end = await waitFor(context, execution, { until: finished, timeoutMs });
  return end === undefined ? interrupted(context, backend, execution) : ended(context, backend, end);
}

interface WaitBounds {
  readonly until: Until;
  /** Milliseconds; absent: for ever. */
  readonly timeoutMs?: number;
}

/** The state at which `until` held, or undefined after Ctrl-C. Throws a timeout error with what the state was. */
export async function waitFor(
  context: CommandContext,
  execution: WorkflowExecution,
  { until, timeoutMs }: WaitBounds,
): Promise<WorkflowExecution | undefined> {
  const backend = await context.backend();
  const late = new AbortController();
  const over = new AbortController();
  if (timeoutMs !== undefined) {
    const stop = AbortSignal.any([over.signal, context.interrupted]);
    void context.clock.sleep(timeoutMs, stop).then(() => stop.aborted || late.abort());
  }
  let last: WorkflowExecution | undefined;
  const onChange = (latest: WorkflowExecution) => {
    tellDecision(context, backend, last, latest);
    last = latest;
  };
  const signal = AbortSignal.any([context.interrupted, late.signal]);
  try {
    const end = await awaitExecution({ backend }, execution, { until, onChange }, signal);
    if (end === undefined && late.signal.aborted) throw timedOut(backend, last ?? execution);
    return end;
  } finally {
    over.abort();
  }
}

/** The hint after Ctrl-C: the execution continues. */
export function interrupted(
  { terminal }: CommandContext,
  { words }: Backend,
  { metadata }: WorkflowExecution,
): ExitCode {
  const { name } = metadata;
  const comeBack = `windlass get ${name} --watch${words.flags}`;
  terminal.note(`${name} keeps running. Come back: ${comeBack}. Stop it: windlass cancel ${name}${words.flags}`);
  return exitCodes.interrupted;
}

/** Prints an execution that has ended, in the format asked for, and why where it did not complete. */
async function ended(context: CommandContext, backend: Backend, end: WorkflowExecution): Promise<ExitCode> {
  const { status } = end;
  const phase = status?.phase ?? 'pending';
  if (!(await printedObject(context, end)) && phase === 'completed') await printOutput(context, end);
  if (status !== undefined && succeeded(status)) return exitCodes.ok;
  noteFailure(context, backend, end);
  return status === undefined ? exitCodes.ok : exitCodeOfEnd(status);
}

/** Why it did not succeed, and where to look. */
function noteFailure({ terminal }: CommandContext, { words }: Backend, end: WorkflowExecution): void {
  const { metadata, status } = end;
  const why = [status?.reason, status?.message].filter(Boolean).join(': ') || 'no reason given';
  terminal.note(`error: ${metadata.name} ${status?.phase ?? 'pending'}: ${why}`);
  const [what, command] = hasLogs(end) ? ['its commands wrote', 'logs'] : ['it did', 'get'];
  terminal.note(`See what ${what}: windlass ${command} ${metadata.name}${words.flags}`);
}

/** `final_output` as JSON on standard output; nothing where the workflow declares none. */
export async function printOutput(context: CommandContext, execution: WorkflowExecution): Promise<void> {
  const { executions } = await context.backend();
  const output = await executions.finalOutput(execution);
  if (output !== undefined) context.terminal.out(JSON.stringify(output, null, 2));
}

function tellDecision(
  { terminal }: CommandContext,
  { words }: Backend,
  before: WorkflowExecution | undefined,
  after: WorkflowExecution,
): void {
  const waiting = newlyWaiting(before, after);
  if (waiting === undefined) return;
  const { name } = after.metadata;
  const commands = answerCommands(`${name}${words.flags}`, after.status?.current?.answers ?? []);
  terminal.note(`${name} waits in '${waiting}': ${commands.join(', or ')}`);
}

function timedOut({ words }: Backend, { metadata, status }: WorkflowExecution): CliError {
  const state = status?.current?.state;
  const where = state === undefined ? '' : ` in state '${state}'`;
  return new CliError(
    'timeout',
    `timed out: ${metadata.name} is ${status?.phase ?? 'pending'}${where}`,
    `It continues. Look again: windlass get ${metadata.name}${words.flags}`,
  );
}
