import { cutText } from '../../../lib/cut-text.ts';
import { isTerminal } from '../../../lib/execution/finished.ts';
import { ownMember } from '../../../lib/own-member.ts';
import type { PodStop } from '../../step-pods/release-pod.ts';
import { engineLimits } from '../limits.ts';
import type { Draft } from './draft.ts';
import type { AgentFact, ChildFact, PodFact } from './facts.ts';

/** Longest reason of a cancel, in characters (crds/schema/workflow-execution.ts). */
const reasonLength = 1_024;

/**
 * Lets go of every pod whose output is in the draft's status or is not wanted any more, and stops what still runs of
 * them. A pod that a state still waits for is kept (design §6).
 */
export function releasePods(draft: Draft): void {
  for (const pod of draft.facts.pods) {
    if (isPodWanted(draft, pod)) awaitEnd(draft, pod);
    else if (pod.held) releasePod(draft, pod);
  }
}

/**
 * The silence of a deleted pod is an outcome too; no event will report it. The reader of a log wakes us by itself, and past
 * the deadline nothing else does: a look now and then bounds what one lost wake-up costs.
 */
function awaitEnd(draft: Draft, { outcome, silentUntil, ended, held }: PodFact): void {
  if (outcome !== undefined) return;
  if (silentUntil !== undefined && silentUntil > draft.now) draft.wakeAt(silentUntil);
  if (ended && held) draft.wakeAt(draft.now + engineLimits.readAgainMs);
}

function releasePod(draft: Draft, pod: PodFact): void {
  const { name, uid } = pod;
  const stop = stopOf(pod);
  draft.act({ kind: 'release_pod', name, uid, ...(stop === undefined ? {} : { stop }) });
}

function stopOf({ lost, ended, deleting }: PodFact): PodStop | undefined {
  if (lost) return 'force';
  return ended || deleting ? undefined : 'graceful';
}

function isPodWanted(draft: Draft, { slot }: PodFact): boolean {
  const { current } = draft.status;
  if (current === undefined || slot.state !== current.state || slot.visit !== current.visit) return false;
  if (slot.step === undefined) return slot.attempt >= (current.attempt ?? 1);
  const attempt = ownMember(current.retried, slot.step)?.attempt ?? 1;
  return slot.attempt >= attempt && !draft.isRecorded(slot.step);
}

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
    if (agent.cancelled || isTerminal(agent) || isAgentWanted(draft, agent)) continue;
    draft.act({ kind: 'cancel_agent', name: agent.name, uid: agent.uid, reason: reasonOf(draft) });
  }
}

function isAgentWanted({ status: { current } }: Draft, { name }: AgentFact): boolean {
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
