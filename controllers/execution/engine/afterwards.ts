import type { EventReason } from '../../../crds/conditions.ts';
import { archiveLimits } from '../../../lib/archive/limits.ts';
import { isHeldForArchive } from '../archive-finalizer.ts';
import type { Draft } from './draft.ts';
import { sendEndStimulus } from './end-stimulus.ts';
import type { ArchiveFact } from './facts.ts';
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

/** A blocking child is deleted with its parent, which may still have to read its result. */
function heldByParent(draft: Draft): boolean {
  return (draft.facts.execution.metadata.ownerReferences ?? []).some(({ kind }) => kind === 'WorkflowExecution');
}

/** Why the record has yet to be written; undefined where it is written, and where there is no archive. */
function awaitedRecord({ status, facts }: Draft): Extract<ArchiveFact, { kind: 'pending' }> | undefined {
  return status.archived_at === undefined && facts.archive?.kind === 'pending' ? facts.archive : undefined;
}

/**
 * Has the record written, and says so in the status once it is (requirements AMB-174). An execution that is not archived
 * a moment after its end is held from then on: a user may delete it.
 */
function archive(draft: Draft, finishedAt: number): void {
  const { archive: fact, execution } = draft.facts;
  const isHeld = isHeldForArchive(execution);
  if (fact?.kind === 'archived' && draft.status.archived_at === undefined) {
    draft.change({ kind: 'status', fields: { archived_at: new Date(fact.at).toISOString() } });
  }
  const awaited = awaitedRecord(draft);
  if (awaited !== undefined) write(draft, awaited.retryAt);
  if (awaited === undefined && isHeld) draft.act({ kind: 'let_execution_go' });
  if (awaited !== undefined && !isHeld) hold(draft, finishedAt + archiveLimits.holdAfterMs);
}

function write(draft: Draft, retryAt: number | undefined): void {
  if (retryAt === undefined) draft.act({ kind: 'archive_execution' });
  else draft.wakeAt(retryAt);
}

function hold(draft: Draft, at: number): void {
  if (draft.now < at) draft.wakeAt(at);
  else draft.act({ kind: 'hold_execution' });
}

/** An archive that does not work must not fill the cluster: after a while the execution is deleted without a record. */
function remove(draft: Draft, due: number): void {
  const { settings } = draft.facts;
  const awaited = awaitedRecord(draft);
  if (awaited === undefined) return draft.act({ kind: 'delete_execution' });
  const last = due + settings.archiveGraceSeconds * 1_000;
  if (draft.now < last) return draft.wakeAt(last);
  const why = awaited.problem ?? 'other records came first';
  const reason: EventReason = 'ExecutionNotArchived';
  draft.say('Warning', reason, `deleted ${settings.archiveGraceSeconds} s after its time without a record: ${why}`);
  draft.act({ kind: 'let_execution_go' }, { kind: 'delete_execution', unarchived: why });
}
