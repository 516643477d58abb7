import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import { finished } from '../lib/execution/finished.ts';
import type { ObjectRef } from '../lib/kube/index.ts';
import { type FollowDeps, followExecution } from './follow.ts';
import { progressLines } from './progress.ts';
import { createScreen } from './screen.ts';
import type { Terminal } from './terminal.ts';
import { view } from './view.ts';

/** True for the state of an execution at which watching ends. */
export type Until = (execution: WorkflowExecution) => boolean;

export interface WatchDeps extends FollowDeps {
  readonly terminal: Terminal;
}

const frameMs = 100;

/**
 * Waits until an execution is as wanted, and calls `onChange` with each state on the way.
 * Resolves with the last state, or undefined when `signal` aborted first.
 */
export async function awaitExecution(
  deps: FollowDeps & { readonly onChange?: (execution: WorkflowExecution) => void },
  ref: ObjectRef,
  until: Until,
  signal: AbortSignal,
): Promise<WorkflowExecution | undefined> {
  for await (const execution of followExecution(deps, ref, signal)) {
    deps.onChange?.(execution);
    if (until(execution)) return execution;
  }
  return undefined;
}

/** Shows an execution until it ends: drawn in place in a terminal, as appended lines anywhere else. */
export function watchExecution(
  deps: WatchDeps,
  ref: ObjectRef,
  signal: AbortSignal,
): Promise<WorkflowExecution | undefined> {
  return deps.terminal.live ? watchLive(deps, ref, signal) : watchPlain(deps, ref, signal);
}

async function watchPlain(
  deps: WatchDeps,
  ref: ObjectRef,
  signal: AbortSignal,
): Promise<WorkflowExecution | undefined> {
  let before: WorkflowExecution | undefined;
  const onChange = (after: WorkflowExecution) => {
    for (const line of progressLines(before, after)) deps.terminal.out(line);
    before = after;
  };
  return awaitExecution({ ...deps, onChange }, ref, finished, signal);
}

async function watchLive(deps: WatchDeps, ref: ObjectRef, signal: AbortSignal): Promise<WorkflowExecution | undefined> {
  const { terminal, clock } = deps;
  const screen = createScreen(terminal);
  let latest: WorkflowExecution | undefined;
  const draw = () => {
    const size = { columns: terminal.columns() - 1, rows: terminal.rows() - 1 };
    if (latest) screen.draw(view(latest, clock.now(), size));
  };
  const over = new AbortController();
  const onChange = (execution: WorkflowExecution) => {
    latest = execution;
    draw();
  };
  try {
    const end = awaitExecution({ ...deps, onChange }, ref, finished, signal).finally(() => over.abort());
    const ticks = redrawUntil(over.signal, deps, draw);
    const [result] = await Promise.all([end, ticks]);
    return result;
  } finally {
    screen.close();
  }
}

async function redrawUntil(over: AbortSignal, { clock }: WatchDeps, draw: () => void): Promise<void> {
  while (!over.aborted) {
    await clock.sleep(frameMs, over);
    draw();
  }
}
