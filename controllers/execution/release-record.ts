import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import { finished } from '../../lib/execution/finished.ts';
import { type HoldDeps, isHeldForArchive, letGoOfArchive } from './archive-finalizer.ts';
import type { Archives } from './archives.ts';
import type { ArchiveFact } from './engine/facts.ts';

interface ReleaseRecordDeps extends HoldDeps {
  readonly archives: Pick<Archives, 'stateOf' | 'begin'>;
  readonly graceMs: number;
  /** Called for an execution that is deleted without a record, with the reason. */
  readonly onUnarchived: (execution: WorkflowExecution, why: string) => void;
}

/**
 * Lets an execution go that is being deleted and was held for its record. Gives the milliseconds until it is looked at
 * again while the record has yet to be written, which is waited for no longer than the grace; undefined once it is let go.
 */
export async function releaseRecord(
  deps: ReleaseRecordDeps,
  execution: WorkflowExecution,
  { now, isEnding }: { readonly now: number; readonly isEnding: boolean },
): Promise<number | undefined> {
  if (!isHeldForArchive(execution)) return undefined;
  const fact = awaitedOf(deps, execution);
  if (fact !== undefined) {
    const last = Date.parse(execution.metadata.deletionTimestamp ?? '') + deps.graceMs;
    if (!isEnding && now < last) {
      deps.archives.begin(execution);
      return Math.min(last, fact.retryAt ?? last) - now;
    }
    deps.onUnarchived(execution, isEnding ? 'its namespace is being deleted' : (fact.problem ?? 'it took too long'));
  }
  await letGoOfArchive(deps, execution);
  return undefined;
}

type Pending = Extract<ArchiveFact, { kind: 'pending' }>;

/** Undefined where nothing is to be written any more. */
function awaitedOf({ archives }: ReleaseRecordDeps, execution: WorkflowExecution): Pending | undefined {
  if (execution.status?.archived_at !== undefined || !finished(execution)) return undefined;
  const fact = archives.stateOf(execution);
  return fact?.kind === 'pending' ? fact : undefined;
}
