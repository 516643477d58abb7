import { isTerminal } from '../../../lib/execution/finished.ts';
import type { Draft } from './draft.ts';
import type { AgentFact } from './facts.ts';
import { reasonOf } from './release-children.ts';

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
