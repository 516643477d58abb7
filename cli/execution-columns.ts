import type { WorkflowExecution } from '../crds/schema/workflow-execution.ts';
import { isTerminal, succeeded } from '../lib/execution/finished.ts';
import { formatAge, formatElapsed } from './duration.ts';
import type { Column } from './table.ts';
import { workflowOf } from './workflow-of.ts';

export const namespaceColumn: Column<WorkflowExecution> = {
  heading: 'NAMESPACE',
  cell: ({ metadata }) => metadata.namespace,
};

/** The columns of an execution in a list at the moment `now` (milliseconds since the epoch). */
export function columnsAt(now: number): Column<WorkflowExecution>[] {
  return [
    { heading: 'NAME', cell: ({ metadata }) => metadata.name },
    { heading: 'WORKFLOW', cell: workflowOf },
    { heading: 'PHASE', cell: ({ status }) => status?.phase ?? 'pending' },
    { heading: 'SUCCEEDED', cell: ({ status }) => successOf(status) },
    { heading: 'STATE', cell: ({ status }) => status?.current?.state ?? status?.state },
    { heading: 'TRANSITIONS', cell: ({ status }) => status?.transitions ?? 0 },
    { heading: 'AGE', cell: ({ metadata }) => formatAge(metadata.creationTimestamp, now) },
    { heading: 'VERSION', cell: ({ status, spec }) => status?.workflow?.version ?? spec.version, wide: true },
    { heading: 'ELAPSED', cell: (execution) => elapsed(execution, now), wide: true },
    { heading: 'REASON', cell: ({ status }) => status?.reason, wide: true },
    { heading: 'MESSAGE', cell: ({ status }) => status?.current?.waiting?.message ?? status?.message, wide: true },
    { heading: 'UID', cell: ({ metadata }) => metadata.uid, wide: true },
  ];
}

function elapsed({ status }: WorkflowExecution, now: number): string | undefined {
  if (status?.started_at === undefined) return undefined;
  const end = status.finished_at === undefined ? now : Date.parse(status.finished_at);
  return formatElapsed(end - Date.parse(status.started_at));
}

/**
 * The status of the condition `Succeeded`, which the HTTP API does not show. An execution whose last state failed is
 * `completed` all the same (requirements AMB-169).
 */
function successOf(status: WorkflowExecution['status']): 'True' | 'False' | 'Unknown' {
  if (status === undefined || !isTerminal(status)) return 'Unknown';
  return succeeded(status) ? 'True' : 'False';
}
