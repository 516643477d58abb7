import type { ArchivedRow } from '../../lib/archive/archive-store.ts';
import { type HoldDeps, isHeldForArchive, letGoOfArchive } from './archive-finalizer.ts';
import type { Archives } from './archives.ts';
import type { ArchiveFact } from './decide-archiving.ts';

interface ReleaseRecordDeps<T extends ArchivedRow> extends HoldDeps<T> {
  readonly archives: Pick<Archives<T>, 'stateOf' | 'begin' | 'unarchived'>;
  readonly graceMs: number;
}

/**
 * Lets an execution go that is being deleted and was held for its record. Gives the milliseconds until it is looked at
 * again while the record has yet to be written, which is waited for no longer than the grace; undefined once it is let go.
 */
export async function releaseRecord<T extends ArchivedRow>(
  deps: ReleaseRecordDeps<T>,
  execution: T,
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
    deps.archives.unarchived(
      execution,
      isEnding ? 'its namespace is being deleted' : (fact.problem ?? 'it took too long'),
    );
  }
  await letGoOfArchive(deps, execution);
  return undefined;
}

type Pending = Extract<ArchiveFact, { kind: 'pending' }>;

/** Undefined where nothing is to be written any more. */
function awaitedOf<T extends ArchivedRow>({ archives }: ReleaseRecordDeps<T>, execution: T): Pending | undefined {
  const { archived_at: archivedAt, finished_at: finishedAt } = execution.status ?? {};
  if (archivedAt !== undefined || finishedAt === undefined) return undefined;
  const fact = archives.stateOf(execution);
  return fact?.kind === 'pending' ? fact : undefined;
}
