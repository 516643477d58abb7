import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import { waitingFor } from '../lib/decision/human-decision.ts';
import { finished } from '../lib/execution/finished.ts';
import { finalOutput } from '../lib/execution/full-execution.ts';
import type { ObjectRef } from '../lib/kube/index.ts';
import { CliError, type ExitCode, exitCodeOfPhase, exitCodes } from './exit-codes.ts';
import { namespaceFlag } from './namespace-flag.ts';
import { printedObject } from './print-object.ts';
import type { Session } from './session.ts';
import { awaitExecution, type Until, watchExecution } from './watch-execution.ts';

/** Shows the execution until it ends, then its output. The exit code is that of its last phase. */
export async function watchToEnd(session: Session, ref: ObjectRef): Promise<ExitCode> {
  const { kube } = await session.cluster();
  const deps = { kube, clock: session.clock, terminal: session.terminal };
  const end = await watchExecution(deps, ref, session.interrupted);
  return end === undefined ? interrupted(session, ref) : ended(session, end);
}

/** Waits for the end without a word but for a decision somebody must make; then prints the output. */
export async function waitToEnd(session: Session, ref: ObjectRef, timeoutMs?: number): Promise<ExitCode> {
  const end = await waitFor(session, ref, { until: finished, timeoutMs });
  return end === undefined ? interrupted(session, ref) : ended(session, end);
}

export interface WaitBounds {
  readonly until: Until;
  /** Milliseconds; absent: for ever. */
  readonly timeoutMs?: number;
}

/** The state at which `until` held, or undefined after Ctrl-C. Throws a timeout error with what the state was. */
export async function waitFor(
  session: Session,
  ref: ObjectRef,
  { until, timeoutMs }: WaitBounds,
): Promise<WorkflowExecution | undefined> {
  const { kube } = await session.cluster();
  const late = new AbortController();
  const over = new AbortController();
  if (timeoutMs !== undefined) {
    const stop = AbortSignal.any([over.signal, session.interrupted]);
    void session.clock.sleep(timeoutMs, stop).then(() => stop.aborted || late.abort());
  }
  let last: WorkflowExecution | undefined;
  const onChange = (execution: WorkflowExecution) => {
    tellDecision(session, last, execution);
    last = execution;
  };
  const signal = AbortSignal.any([session.interrupted, late.signal]);
  try {
    const end = await awaitExecution({ kube, clock: session.clock, onChange }, ref, until, signal);
    if (end === undefined && late.signal.aborted) throw timedOut(ref, last);
    return end;
  } finally {
    over.abort();
  }
}

/** What Ctrl-C leaves behind: the execution goes on. */
export function interrupted({ terminal }: Session, { name, namespace }: ObjectRef): ExitCode {
  const flag = namespaceFlag({ namespace });
  const comeBack = `windlass get ${name} --watch${flag}`;
  terminal.note(`${name} keeps running. Come back: ${comeBack}. Stop it: windlass cancel ${name}${flag}`);
  return exitCodes.interrupted;
}

/** Prints an execution that has ended, in the format asked for, and why where it did not complete. */
async function ended(session: Session, end: WorkflowExecution): Promise<ExitCode> {
  const { status, metadata } = end;
  const phase = status?.phase ?? 'pending';
  if (!(await printedObject(session, end)) && phase === 'completed') await printOutput(session, end);
  if (phase !== 'completed') {
    const why = [status?.reason, status?.message].filter(Boolean).join(': ') || 'no reason given';
    session.terminal.note(`error: ${metadata.name} ${phase}: ${why}`);
    session.terminal.note(`See what its steps wrote: windlass logs ${metadata.name}${namespaceFlag(metadata)}`);
  }
  return exitCodeOfPhase(phase);
}

/** `final_output` as JSON on standard output; nothing where the workflow declares none. */
export async function printOutput(session: Session, execution: WorkflowExecution): Promise<void> {
  const { outputs } = await session.cluster();
  const output = await finalOutput(outputs, execution);
  if (output !== undefined) session.terminal.out(JSON.stringify(output, null, 2));
}

function tellDecision(session: Session, before: WorkflowExecution | undefined, after: WorkflowExecution): void {
  const waiting = waitingFor(after);
  if (waiting === undefined || (before && waitingFor(before)?.state === waiting.state)) return;
  const { name } = after.metadata;
  const approve = `windlass approve ${name}${namespaceFlag(after.metadata)}`;
  session.terminal.note(`${name} waits in '${waiting.state}': ${approve}, or reject with --reason`);
}

function timedOut({ name, namespace }: ObjectRef, last: WorkflowExecution | undefined): CliError {
  const state = last?.status?.current?.state;
  const where = state === undefined ? '' : ` in state '${state}'`;
  return new CliError(
    'timeout',
    `timed out: ${name} is ${last?.status?.phase ?? 'pending'}${where}`,
    `It goes on. Look again: windlass get ${name}${namespaceFlag({ namespace })}`,
  );
}
