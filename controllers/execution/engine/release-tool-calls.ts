import { isTerminal } from '../../../lib/execution/finished.ts';
import type { Draft } from './draft.ts';
import { reasonOf } from './release-children.ts';

/** Cancels every call that no state waits for any more. Asked again in each decision until the call says that it is. */
export function releaseToolCalls(draft: Draft): void {
  for (const call of draft.facts.toolCalls ?? []) {
    if (call.cancelled || isTerminal(call) || draft.status.current?.child?.name === call.name) continue;
    draft.act({ kind: 'cancel_tool_call', name: call.name, uid: call.uid, reason: reasonOf(draft) });
  }
}
