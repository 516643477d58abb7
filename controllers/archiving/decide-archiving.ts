import { archiveLimits } from '../../lib/archive/limits.ts';

/** The record of a finished execution; `at` and `retryAt` in milliseconds since the epoch. */
export type ArchiveFact =
  | { readonly kind: 'archived'; readonly at: number }
  | { readonly kind: 'pending'; readonly problem?: string; readonly retryAt?: number };

/** The known facts about the record of an execution that has ended. Times in milliseconds since the epoch. */
export interface Recorded {
  /** Undefined: there is no archive for it. */
  readonly fact: ArchiveFact | undefined;
  /** Whether its status says that the record is written. */
  readonly isArchived: boolean;
  /** Whether it has the finalizer of the archive. */
  readonly isHeld: boolean;
  readonly finishedAt: number;
}

/** Why the record has yet to be written; undefined where it is written, and where there is no archive. */
const awaited = ({ fact, isArchived }: Recorded): Extract<ArchiveFact, { kind: 'pending' }> | undefined =>
  !isArchived && fact?.kind === 'pending' ? fact : undefined;

export type ArchiveStep =
  | { readonly kind: 'write' | 'hold' | 'let_go' }
  | { readonly kind: 'wake'; readonly at: number };

/**
 * Has the record written (requirements AMB-174). An execution that is not archived a moment after its end is held from
 * then on: a user may delete it.
 */
export function archiveSteps(recorded: Recorded, now: number): readonly ArchiveStep[] {
  const record = awaited(recorded);
  if (record === undefined) return recorded.isHeld ? [{ kind: 'let_go' }] : [];
  const { retryAt } = record;
  return [
    retryAt === undefined ? { kind: 'write' } : { kind: 'wake', at: retryAt },
    ...(recorded.isHeld ? [] : [holdFrom(recorded.finishedAt + archiveLimits.holdAfterMs, now)]),
  ];
}

const holdFrom = (at: number, now: number): ArchiveStep => (now < at ? { kind: 'wake', at } : { kind: 'hold' });

type Removal =
  | { readonly kind: 'wait'; readonly until: number }
  /** `unarchived`: why there is no record of it. */
  | { readonly kind: 'delete'; readonly unarchived?: string };

/**
 * The fate of an execution whose time is over. An archive that does not work must not fill the cluster: after a while the
 * execution is deleted without a record.
 */
export function removalOf(
  recorded: Recorded,
  { now, due, graceMs }: { readonly now: number; readonly due: number; readonly graceMs: number },
): Removal {
  const record = awaited(recorded);
  if (record === undefined) return { kind: 'delete' };
  const last = due + graceMs;
  if (now < last) return { kind: 'wait', until: last };
  return { kind: 'delete', unarchived: record.problem ?? 'other records came first' };
}
