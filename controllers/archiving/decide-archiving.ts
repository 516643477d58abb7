import type { EventReason } from '../../crds/conditions.ts';
import { archiveLimits } from '../../lib/archive/limits.ts';
import type { KubeObject } from '../../lib/kube/index.ts';
import { isHeldForArchive } from './archive-finalizer.ts';

/** The record of a finished execution; `at` and `retryAt` in milliseconds since the epoch. */
export type ArchiveFact =
  | { readonly kind: 'archived'; readonly at: number }
  | { readonly kind: 'pending'; readonly problem?: string; readonly retryAt?: number };

/** The record of an execution that has ended, as far as deciding needs it. Times in milliseconds since the epoch. */
interface Recorded {
  /** Undefined: there is no archive for it. */
  readonly fact: ArchiveFact | undefined;
  /** Whether its status says that the record is written. */
  readonly isNoted: boolean;
  /** Whether it has the finalizer of the archive. */
  readonly isHeld: boolean;
  readonly finishedAt: number;
}

/** The part of a status that says of an execution when it ended and when its record was written, RFC 3339. */
interface EndedStatus {
  readonly finished_at?: string | undefined;
  readonly archived_at?: string | undefined;
}

export const recordedOf = (
  execution: KubeObject,
  { finished_at: finishedAt = '', archived_at: archivedAt }: EndedStatus,
  fact: ArchiveFact | undefined,
): Recorded => ({
  fact,
  isNoted: archivedAt !== undefined,
  isHeld: isHeldForArchive(execution),
  finishedAt: Date.parse(finishedAt),
});

/** How long an execution stays. Times in milliseconds. */
interface Stay {
  readonly now: number;
  /** The end of its time; undefined: it is deleted with its parent. */
  readonly due: number | undefined;
  /** How long it outlives its time while its record cannot be written. */
  readonly graceMs: number;
}

/** Remaining work of the archive for an execution that has ended, and whether it is deleted. */
export interface AfterEnd {
  /** When the record was written, RFC 3339; absent: the status says so, or it is not written. */
  readonly archivedAt?: string;
  readonly actions: readonly ArchiveAction[];
  /** When an action is due, in milliseconds since the epoch. */
  readonly wakeAt?: number;
  readonly removal: Removal;
}

export type ArchiveAction =
  /** Writes the record of a finished execution in the background. */
  | { readonly kind: 'archive_execution' }
  /** Holds a finished execution against deletion until it is archived; and releases it. */
  | { readonly kind: 'hold_execution' }
  | { readonly kind: 'let_execution_go' };

type Removal =
  | { readonly kind: 'none' }
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'delete'; readonly unarchived?: Unarchived };

/** Why there is no record of an execution that is deleted. */
interface Unarchived {
  readonly why: string;
  readonly reason: EventReason;
  readonly message: string;
}

/**
 * Has the record written (requirements AMB-174), and the execution deleted at the end of its time. Pure. An execution that is not
 * archived a moment after its end is held from then on: a user may delete it. An archive that does not work must not fill
 * the cluster: after the grace the execution is deleted without a record.
 */
export function afterEnd(recorded: Recorded, stay: Stay): AfterEnd {
  const { fact, isNoted } = recorded;
  return {
    ...(fact?.kind === 'archived' && !isNoted ? { archivedAt: new Date(fact.at).toISOString() } : {}),
    ...recordWork(recorded, stay.now),
    removal: removalOf(recorded, stay),
  };
}

/** Why the record has yet to be written; undefined where it is written, and where there is no archive. */
const awaited = ({ fact, isNoted }: Recorded): Extract<ArchiveFact, { kind: 'pending' }> | undefined =>
  !isNoted && fact?.kind === 'pending' ? fact : undefined;

function recordWork(recorded: Recorded, now: number): Pick<AfterEnd, 'actions' | 'wakeAt'> {
  const record = awaited(recorded);
  const { isHeld, finishedAt } = recorded;
  if (record === undefined) return { actions: isHeld ? [{ kind: 'let_execution_go' }] : [] };
  const { retryAt } = record;
  const holdAt = finishedAt + archiveLimits.holdAfterMs;
  const isHeldLater = !isHeld && now < holdAt;
  const times = [...(retryAt === undefined ? [] : [retryAt]), ...(isHeldLater ? [holdAt] : [])];
  return {
    actions: [
      ...(retryAt === undefined ? [{ kind: 'archive_execution' } as const] : []),
      ...(isHeld || isHeldLater ? [] : [{ kind: 'hold_execution' } as const]),
    ],
    ...(times.length === 0 ? {} : { wakeAt: Math.min(...times) }),
  };
}

function removalOf(recorded: Recorded, { now, due, graceMs }: Stay): Removal {
  if (due === undefined) return { kind: 'none' };
  if (now < due) return { kind: 'wait', until: due };
  const record = awaited(recorded);
  if (record === undefined) return { kind: 'delete' };
  const last = due + graceMs;
  if (now < last) return { kind: 'wait', until: last };
  const why = record.problem ?? 'other records came first';
  const message = `deleted ${graceMs / 1_000} s after its time without a record: ${why}`;
  return { kind: 'delete', unarchived: { why, reason: 'ExecutionNotArchived', message } };
}
