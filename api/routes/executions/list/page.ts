import { labels } from '../../../../crds/labels.ts';
import { limits } from '../../../../crds/limits.ts';
import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import type { Phase } from '../../../../crds/schema/workflow-execution-status.ts';

/** Where an execution stands in the list; it never changes. */
export interface ListKey {
  /** RFC 3339, to the second. */
  readonly createdAt: string;
  readonly uid: string;
}

export interface PageQuery {
  /** Name or id. */
  readonly workflow?: string;
  readonly status?: Phase;
  readonly limit: number;
  /** The last execution of the page before. */
  readonly after?: ListKey;
}

export interface Page {
  readonly executions: readonly WorkflowExecution[];
  /** Undefined on the last page. */
  readonly next: ListKey | undefined;
}

/** The newest executions behind `after`, the newest first. Of any number of executions only one page is sorted. */
export function pageOf(all: Iterable<WorkflowExecution>, query: PageQuery): Page {
  const size = Math.min(query.limit, limits.pageSizeMax);
  const best: WorkflowExecution[] = [];
  for (const execution of all) {
    if (!fits(execution, query)) continue;
    const last = best[size];
    if (last !== undefined && compare(execution, last) > 0) continue;
    insert(best, execution);
    best.length = Math.min(best.length, size + 1);
  }
  const executions = best.slice(0, size);
  return { executions, next: best.length > size ? keyOf(executions.at(-1)) : undefined };
}

/** The newest first; a time is as exact as Kubernetes keeps it. */
function compare(a: WorkflowExecution, b: WorkflowExecution): number {
  return compareKeys(keyOf(a), keyOf(b));
}

function compareKeys(a: ListKey, b: ListKey): number {
  if (a.createdAt !== b.createdAt) return a.createdAt > b.createdAt ? -1 : 1;
  return a.uid === b.uid ? 0 : a.uid < b.uid ? -1 : 1;
}

function keyOf(execution: WorkflowExecution | undefined): ListKey {
  const { creationTimestamp: createdAt = '', uid = '' } = execution?.metadata ?? {};
  return { createdAt, uid };
}

/** Into its place in a sorted list. */
function insert(sorted: WorkflowExecution[], execution: WorkflowExecution): void {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = sorted[middle];
    if (other !== undefined && compare(other, execution) <= 0) low = middle + 1;
    else high = middle;
  }
  sorted.splice(low, 0, execution);
}

function fits(execution: WorkflowExecution, { workflow, status, after }: PageQuery): boolean {
  if (status !== undefined && (execution.status?.phase ?? 'pending') !== status) return false;
  if (workflow !== undefined && !isOf(execution, workflow)) return false;
  return after === undefined || compareKeys(keyOf(execution), after) > 0;
}

function isOf({ metadata, spec, status }: WorkflowExecution, workflow: string): boolean {
  if (status?.workflow !== undefined) return status.workflow.name === workflow || status.workflow.uid === workflow;
  return spec.workflow === workflow || metadata.labels?.[labels.workflowUid] === workflow;
}
