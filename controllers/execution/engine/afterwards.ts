import type { EventReason } from '../../../crds/conditions.ts';
import { isHeldForArchive } from '../../archiving/archive-finalizer.ts';
import { archiveSteps, type ArchiveStep, type Recorded, removalOf } from '../../archiving/decide-archiving.ts';
import type { Draft } from './draft.ts';
import { sendEndStimulus } from './end-stimulus.ts';
import { engineLimits } from '.././limits.ts';

/** Until it is looked at again whether the parent has seen its child, which otherwise takes milliseconds. */
const awaitedMs = 5_000;

/**
 * Remaining work for an execution that has ended: archive it, start what its end starts, and delete it when its
 * time is over (design §5).
 */
export function afterwards(draft: Draft): void {
  const { execution, settings } = draft.facts;
  const { finished_at: finishedAt } = draft.status;
  if (finishedAt === undefined) return;
  archive(draft, Date.parse(finishedAt));
  const ttlSeconds = execution.spec.ttl_seconds_after_finished ?? settings.executionTtlSeconds;
  const due = Date.parse(finishedAt) + ttlSeconds * 1_000;
  const isSent = sendEndStimulus(draft, due + engineLimits.stimulusGraceMs);
  if (heldByParent(draft)) return;
  if (draft.now < due) draft.wakeAt(due);
  else if (!isSent) draft.wakeAt(due + engineLimits.stimulusGraceMs);
  else if (draft.facts.awaited === true) draft.wakeAt(draft.now + awaitedMs);
  else remove(draft, due);
}

/**
 * A blocking child is deleted with its parent, which may still have to read its result. Any user may write owners, but
 * the controllers alone say which execution is the parent.
 */
function heldByParent(draft: Draft): boolean {
  const { metadata, spec } = draft.facts.execution;
  return (metadata.ownerReferences ?? []).some(({ uid }) => uid === spec.parent?.uid);
}

/** Has the record written, and says so in the status once it is (requirements AMB-174). */
function archive(draft: Draft, finishedAt: number): void {
  const { archive: fact } = draft.facts;
  if (fact?.kind === 'archived' && draft.status.archived_at === undefined) {
    draft.change({ kind: 'status', fields: { archived_at: new Date(fact.at).toISOString() } });
  }
  for (const step of archiveSteps(recordedOf(draft, finishedAt), draft.now)) take(draft, step);
}

function take(draft: Draft, step: ArchiveStep): void {
  switch (step.kind) {
    case 'write':
      return draft.act({ kind: 'archive_execution' });
    case 'hold':
      return draft.act({ kind: 'hold_execution' });
    case 'let_go':
      return draft.act({ kind: 'let_execution_go' });
    case 'wake':
      return draft.wakeAt(step.at);
  }
}

const recordedOf = ({ facts, status }: Draft, finishedAt: number): Recorded => ({
  fact: facts.archive,
  isArchived: status.archived_at !== undefined,
  isHeld: isHeldForArchive(facts.execution),
  finishedAt,
});

function remove(draft: Draft, due: number): void {
  const { archiveGraceSeconds } = draft.facts.settings;
  const graceMs = archiveGraceSeconds * 1_000;
  const removal = removalOf(recordedOf(draft, due), { now: draft.now, due, graceMs });
  if (removal.kind === 'wait') return draft.wakeAt(removal.until);
  const { unarchived } = removal;
  if (unarchived === undefined) return draft.act({ kind: 'delete_execution' });
  const reason: EventReason = 'ExecutionNotArchived';
  draft.recordEvent(
    'Warning',
    reason,
    `deleted ${archiveGraceSeconds} s after its time without a record: ${unarchived}`,
  );
  draft.act({ kind: 'let_execution_go' }, { kind: 'delete_execution', unarchived });
}
