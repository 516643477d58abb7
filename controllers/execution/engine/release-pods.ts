import { ownMember } from '../../../lib/own-member.ts';
import type { PodStop } from '../../step-pods/release-pod.ts';
import type { Draft } from './draft.ts';
import type { PodFact } from './facts.ts';

/**
 * Lets go of every pod whose output is in the draft's status or is not wanted any more, and stops what still runs of
 * them. A pod that a state still waits for is kept (design §6).
 */
export function releasePods(draft: Draft): void {
  for (const pod of draft.facts.pods) {
    if (isWanted(draft, pod)) awaitEnd(draft, pod);
    else if (pod.held) release(draft, pod);
  }
}

/**
 * The silence of a deleted pod is an outcome too; no event will report it. One that is over and still
 * no outcome means that the container has ended and its log is being read, which wakes us by itself.
 */
function awaitEnd(draft: Draft, { outcome, silentUntil }: PodFact): void {
  if (outcome === undefined && silentUntil !== undefined && silentUntil > draft.now) draft.wakeAt(silentUntil);
}

function release(draft: Draft, pod: PodFact): void {
  const { name, uid } = pod;
  const stop = stopOf(pod);
  draft.act({ kind: 'release_pod', name, uid, ...(stop === undefined ? {} : { stop }) });
}

function stopOf({ lost, ended, deleting }: PodFact): PodStop | undefined {
  if (lost) return 'force';
  return ended || deleting ? undefined : 'graceful';
}

function isWanted(draft: Draft, { slot }: PodFact): boolean {
  const { current } = draft.status;
  if (current === undefined || slot.state !== current.state || slot.visit !== current.visit) return false;
  if (slot.step === undefined) return slot.attempt >= (current.attempt ?? 1);
  const attempt = ownMember(current.retried, slot.step)?.attempt ?? 1;
  return slot.attempt >= attempt && !draft.isRecorded(slot.step);
}
