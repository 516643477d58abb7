import { type AfterEnd, afterEnd, recordedOf } from '../../archiving/decide-archiving.ts';
import { engineLimits } from '../limits.ts';
import type { Draft } from './draft.ts';
import { sendEndStimulus } from './end-stimulus.ts';

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
  const ttlSeconds = execution.spec.ttl_seconds_after_finished ?? settings.executionTtlSeconds;
  const due = Date.parse(finishedAt) + ttlSeconds * 1_000;
  const { now } = draft;
  const recorded = recordedOf(execution, draft.status, draft.facts.archive);
  const after = afterEnd(recorded, { now, due, graceMs: settings.archiveGraceSeconds * 1_000 });
  archive(draft, after);
  const isSent = sendEndStimulus(draft, due + engineLimits.stimulusGraceMs);
  if (heldByParent(draft)) return;
  if (now >= due && !isSent) draft.wakeAt(due + engineLimits.stimulusGraceMs);
  else if (now >= due && draft.facts.awaited === true) draft.wakeAt(now + awaitedMs);
  else remove(draft, after);
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
function archive(draft: Draft, { archivedAt, actions, wakeAt }: AfterEnd): void {
  if (archivedAt !== undefined) draft.change({ kind: 'status', fields: { archived_at: archivedAt } });
  draft.act(...actions);
  if (wakeAt !== undefined) draft.wakeAt(wakeAt);
}

function remove(draft: Draft, { removal }: AfterEnd): void {
  if (removal.kind === 'wait') return draft.wakeAt(removal.until);
  if (removal.kind === 'none') return;
  const { unarchived } = removal;
  if (unarchived === undefined) return draft.act({ kind: 'delete_execution' });
  draft.recordEvent('Warning', unarchived.reason, unarchived.message);
  draft.act({ kind: 'let_execution_go' }, { kind: 'delete_execution', unarchived: unarchived.why });
}
