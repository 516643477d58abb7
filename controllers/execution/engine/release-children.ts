import { cutText } from '../../../lib/cut-text.ts';
import { isTerminal } from '../../../lib/execution/finished.ts';
import type { Draft } from './draft.ts';
import type { AgentFact, ChildFact } from './facts.ts';

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

/**
 * Cancels every agent that no state waits for any more, because its state ended or timed out, or this execution ended.
 * Asked again in each decision until the agent says that it is cancelled, for a request may get lost.
 */
export function releaseAgents(draft: Draft): void {
  for (const agent of draft.facts.agents ?? []) {
    if (agent.cancelled || isTerminal(agent) || isWanted(draft, agent)) continue;
    draft.act({ kind: 'cancel_agent', name: agent.name, uid: agent.uid, reason: reasonOf(draft) });
  }
}

function isWanted({ status: { current } }: Draft, { name }: AgentFact): boolean {
  if (current === undefined) return false;
  return current.child?.name === name || current.judges?.some((judge) => judge.name === name) === true;
}

/** Cancels every call that no state waits for any more. Asked again in each decision until the call says that it is. */
export function releaseToolCalls(draft: Draft): void {
  for (const call of draft.facts.toolCalls ?? []) {
    if (call.cancelled || isTerminal(call) || draft.status.current?.child?.name === call.name) continue;
    draft.act({ kind: 'cancel_tool_call', name: call.name, uid: call.uid, reason: reasonOf(draft) });
  }
}

/** Why the started work of a state is cancelled. */
function reasonOf({ status }: Draft): string {
  if (status.finished_at === undefined) return 'the state that waited for this execution is over';
  return cutText(`the execution that started this one ended: ${status.message ?? ''}`, reasonLength);
}
