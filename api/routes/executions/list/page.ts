import { limits } from '../../../../crds/limits.ts';
import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import type { Phase } from '../../../../crds/schema/workflow-execution-status.ts';
import { notedWorkflow } from '../../../../lib/execution/noted-workflow.ts';
import type { Page, PageOptions, TimeKey } from '../../../../lib/http/paging.ts';
import { createLoopTurns } from '../../../../lib/loop-turns.ts';

export interface PageQuery extends PageOptions<TimeKey> {
  /** Name or id. */
  readonly workflow?: string;
  readonly status?: Phase;
}

/**
 * The newest executions behind `after`, the newest first. Only one page is sorted, however many executions there are,
 * and fastest where new ones are at the end of `all`, as in a cache.
 */
export function executionPage(
  all: readonly WorkflowExecution[],
  query: PageQuery,
): Promise<Page<WorkflowExecution, TimeKey>> {
  return newestPage(all, query, (execution) => fits(execution, query));
}

/** Anything with a time and an id. */
type Dated = Pick<WorkflowExecution, 'metadata'>;

/** Objects that all lists together look at in one turn of the event loop: some milliseconds. */
const objectsPerTurn = 10_000;
const nextTurn = createLoopTurns(objectsPerTurn);
const objectsAtOnce = 1_000;

/** The same for any kind of object; `isWanted` says which of them a list is about. Looks at them in turns of the event loop. */
export async function newestPage<D extends Dated>(
  all: readonly D[],
  query: PageOptions<TimeKey>,
  isWanted: (object: D) => boolean,
): Promise<Page<D, TimeKey>> {
  const size = Math.min(query.limit, limits.pageSizeMax);
  const best: D[] = [];
  for (let index = all.length - 1; index >= 0; index--) {
    if (index % objectsAtOnce === 0) await nextTurn(objectsAtOnce);
    const execution = all[index];
    const last = best[size];
    if (execution === undefined || (last !== undefined && compare(execution, last) > 0)) continue;
    if (!isWanted(execution) || !isBehind(execution, query.after)) continue;
    insert(best, execution);
    best.length = Math.min(best.length, size + 1);
  }
  const rows = best.slice(0, size);
  return { rows, next: best.length > size ? timeKeyOf(rows.at(-1)) : undefined };
}

/** The newest first; a time is as exact as Kubernetes keeps it. Makes no objects: a list compares all there are. */
function compare({ metadata: a }: Dated, { metadata: b }: Dated): number {
  return compareKeys(a.creationTimestamp ?? '', a.uid ?? '', b.creationTimestamp ?? '', b.uid ?? '');
}

function compareKeys(time: string, uid: string, otherTime: string, otherUid: string): number {
  if (time !== otherTime) return time > otherTime ? -1 : 1;
  return uid === otherUid ? 0 : uid < otherUid ? -1 : 1;
}

/** The place of an object in a list of the newest. */
export function timeKeyOf(execution: Dated | undefined): TimeKey {
  const { creationTimestamp: at = '', uid: id = '' } = execution?.metadata ?? {};
  return { at, id };
}

/** Into its place in a sorted list. */
function insert<D extends Dated>(sorted: D[], execution: D): void {
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

/** Whether a list that was asked for so shows the execution. */
export function fits(execution: WorkflowExecution, { workflow, status, after }: PageQuery): boolean {
  if (status !== undefined && (execution.status?.phase ?? 'pending') !== status) return false;
  if (workflow !== undefined && !isOf(execution, workflow)) return false;
  return isBehind(execution, after);
}

function isBehind({ metadata }: Dated, after: TimeKey | undefined): boolean {
  if (after === undefined) return true;
  const { creationTimestamp = '', uid = '' } = metadata;
  return compareKeys(creationTimestamp, uid, after.at, after.id) > 0;
}

function isOf(execution: WorkflowExecution, workflow: string): boolean {
  const { spec, status } = execution;
  if (status?.workflow !== undefined) return status.workflow.name === workflow || status.workflow.uid === workflow;
  return spec.workflow === workflow || notedWorkflow(execution) === workflow;
}
