import type { Draft } from './draft.ts';

/** Until it is looked at again whether the parent has seen its child, which otherwise takes milliseconds. */
const awaitedMs = 5_000;

/** What is left to do for an execution that has ended: delete it when its time is over (design §5). */
export function afterwards(draft: Draft): void {
  const { execution, settings } = draft.facts;
  const { finished_at: finishedAt } = draft.status;
  if (finishedAt === undefined || heldByParent(draft)) return;
  const ttlSeconds = execution.spec.ttl_seconds_after_finished ?? settings.executionTtlSeconds;
  const due = Date.parse(finishedAt) + ttlSeconds * 1_000;
  if (draft.now < due) draft.wakeAt(due);
  else if (draft.facts.awaited === true) draft.wakeAt(draft.now + awaitedMs);
  else draft.act({ kind: 'delete_execution' });
}

/** A blocking child goes with its parent, which may still have to read its result. */
function heldByParent(draft: Draft): boolean {
  return (draft.facts.execution.metadata.ownerReferences ?? []).some(({ kind }) => kind === 'WorkflowExecution');
}
