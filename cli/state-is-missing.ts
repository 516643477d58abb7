import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import { type RetryPoint, retryPoints } from '../lib/execution/execution-again.ts';
import { CliError } from './exit-codes.ts';
import { type Column, tableLines } from './table.ts';

/**
 * The usage error of a retry without a state: the states from which it may start, and the command for the one that is
 * meant most often. `flags` lead to the execution.
 * @throws ExecutionError for an execution that no retry may start from.
 */
export function stateIsMissing(origin: WorkflowExecution, flags: string): CliError {
  const points = retryPoints(origin);
  const { name } = origin.metadata;
  const meant = lastTrouble(points);
  if (meant === undefined) {
    const message = `--from is missing, and ${name} entered no state`;
    return new CliError('usage', message, `Run it from its beginning: windlass rerun ${name}${flags}`);
  }
  const hint = `Run it from ${meant.state}: windlass retry ${name} --from ${meant.state}${flags}`;
  return new CliError('usage', '--from is missing: the state to begin in', hint, tableLines(columns, points));
}

/** The last visit that did not succeed; without one, the last visit. */
function lastTrouble(points: readonly RetryPoint[]): RetryPoint | undefined {
  const inOrder = points.toSorted((one, other) => Date.parse(one.since) - Date.parse(other.since));
  return inOrder.findLast(({ status }) => status !== 'success') ?? inOrder.at(-1);
}

const columns: readonly Column<RetryPoint>[] = [
  { heading: 'STATE', cell: ({ state }) => state },
  { heading: 'STATUS', cell: ({ status }) => status },
  { heading: 'SINCE', cell: ({ since }) => since },
];
