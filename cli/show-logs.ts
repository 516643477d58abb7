import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import { finished } from '../lib/execution/finished.ts';
import { type LogPlace, type LogSource, placeText } from '../lib/execution/log-source.ts';
import type { LogSink } from '../lib/execution/read-logs.ts';
import type { LogBackend } from './backends/backend.ts';
import type { CommandContext } from './command-context.ts';

export interface LogDeps extends Pick<CommandContext, 'terminal' | 'interrupted'> {
  readonly logs: LogBackend;
  readonly sink: LogSink;
}

/** The present content of each log, one after another, each under a heading when there are several. */
export async function showLogs(
  deps: LogDeps,
  execution: WorkflowExecution,
  sources: readonly LogSource[],
): Promise<void> {
  const heading = (place: LogPlace, several: boolean): void => {
    if (several) deps.terminal.note(`==> ${placeText(place)} <==`);
  };
  for (const source of sources) {
    if (source.kind === 'pod') {
      await showLive(deps, execution, source);
      continue;
    }
    const logs = await deps.logs.singleSteps(execution, source);
    for (const log of logs) {
      heading(log, sources.length > 1 || logs.length > 1);
      await deps.logs.readStored(execution, log, deps.sink);
    }
  }
}

/** The logs of the commands of a visit that have started, and why the others have not. */
async function showLive(deps: LogDeps, execution: WorkflowExecution, place: LogPlace): Promise<void> {
  const { terminal, sink, interrupted } = deps;
  const found = await deps.logs.live(execution, place);
  const why = finished(execution) ? 'was cut short, and its pod is gone' : 'has no pod yet';
  if (found.length === 0) terminal.note(`${placeText(place)} ${why}`);
  for (const log of found) {
    const text = placeText(log.place);
    terminal.note(log.notStarted === undefined ? `==> ${text} <==` : `${text} has not started: ${log.notStarted}`);
    if (log.notStarted === undefined) await log.read({ follow: false, signal: interrupted }, sink);
  }
}
