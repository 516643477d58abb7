import { cutText } from '../../../lib/cut-text.ts';
import { isTerminal } from '../../../lib/execution/finished.ts';
import type { Draft } from './draft.ts';
import type { ChildFact } from './facts.ts';

/** Longest reason of a cancel, in characters (crds/schema/workflow-execution.ts). */
const reasonLength = 1_024;

/**
 * Cancels every child that no state waits for any more, because its state timed out or this execution ended (spec 1
 * §3.3). Asked again in each decision until the child says that it is cancelled, for a request may get lost.
 */
export function releaseChildren(draft: Draft): void {
  for (const child of draft.facts.children) {
    if (!isAbandoned(draft, child)) continue;
    draft.act({ kind: 'cancel_child', name: child.name, uid: child.uid, reason: reasonOf(draft) });
  }
}

function isAbandoned({ status }: Draft, child: ChildFact): boolean {
  return child.owned && !child.cancelled && !isTerminal(child) && status.current?.child?.name !== child.name;
}

/** Why whatever a state has started is cancelled. */
export function reasonOf({ status }: Draft): string {
  if (status.finished_at === undefined) return 'the state that waited for this execution is over';
  return cutText(`the execution that started this one ended: ${status.message ?? ''}`, reasonLength);
}
