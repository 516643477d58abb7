import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import type { Clock } from '../lib/clock.ts';
import { finished } from '../lib/execution/finished.ts';
import type { Backend } from './backends/backend.ts';
import { progressLines } from './progress.ts';
import { createScreen } from './screen.ts';
import type { Terminal } from './terminal.ts';
import { frameMs } from './spinner.ts';
import { view } from './view.ts';

/** True for the state of an execution at which watching ends. */
export type Until = (execution: WorkflowExecution) => boolean;

interface WatchDeps {
  readonly backend: Pick<Backend, 'words'> & { readonly executions: Pick<Backend['executions'], 'follow'> };
  readonly clock: Clock;
  readonly terminal: Terminal;
}

interface Awaiting {
  readonly until: Until;
  /** Called with each state on the way. */
  readonly onChange: (execution: WorkflowExecution) => void;
}

/** Waits until an execution is as wanted. Resolves with the last state, or undefined when `signal` aborted first. */
export async function awaitExecution(
  { backend }: Pick<WatchDeps, 'backend'>,
  execution: WorkflowExecution,
  { until, onChange }: Awaiting,
  signal: AbortSignal,
): Promise<WorkflowExecution | undefined> {
  for await (const latest of backend.executions.follow(execution, signal)) {
    onChange(latest);
    if (until(latest)) return latest;
  }
  return undefined;
}

/** Shows an execution until it ends: drawn in place in a terminal, as appended lines anywhere else. */
export function watchExecution(
  deps: WatchDeps,
  execution: WorkflowExecution,
  signal: AbortSignal,
): Promise<WorkflowExecution | undefined> {
  return deps.terminal.live ? watchLive(deps, execution, signal) : watchPlain(deps, execution, signal);
}

async function watchPlain(
  deps: WatchDeps,
  execution: WorkflowExecution,
  signal: AbortSignal,
): Promise<WorkflowExecution | undefined> {
  let before: WorkflowExecution | undefined;
  const onChange = (after: WorkflowExecution) => {
    for (const line of progressLines(before, after, deps.backend.words.flags)) deps.terminal.out(line);
    before = after;
  };
  return awaitExecution(deps, execution, { until: finished, onChange }, signal);
}

async function watchLive(
  deps: WatchDeps,
  execution: WorkflowExecution,
  signal: AbortSignal,
): Promise<WorkflowExecution | undefined> {
  const { terminal, clock, backend } = deps;
  const screen = createScreen(terminal);
  let latest: WorkflowExecution | undefined;
  const draw = () => {
    const size = { columns: terminal.columns() - 1, rows: terminal.rows() - 1, flags: backend.words.flags };
    if (latest) screen.draw(view(latest, clock.now(), size));
  };
  const over = new AbortController();
  const onChange = (change: WorkflowExecution) => {
    latest = change;
    draw();
  };
  try {
    const end = awaitExecution(deps, execution, { until: finished, onChange }, signal).finally(() => over.abort());
    const ticks = redrawUntil(over.signal, deps, draw);
    const [result] = await Promise.all([end, ticks]);
    return result;
  } finally {
    screen.close();
  }
}

/** Draws again and again, so that spinners turn and times advance. */
export async function redrawUntil(
  over: AbortSignal,
  { clock }: Pick<WatchDeps, 'clock'>,
  draw: () => void,
): Promise<void> {
  while (!over.aborted) {
    await clock.sleep(frameMs, over);
    draw();
  }
}
