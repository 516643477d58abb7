import type { Draft } from './draft.ts';
import type { PodFact } from './facts.ts';

/**
 * Lets go of every pod whose output is in the draft's status or is not wanted any more, and stops what still runs of
 * them. A pod that a state still waits for is kept (design §6).
 */
export function releasePods(draft: Draft): void {
  for (const pod of draft.facts.pods) {
    if (isWanted(draft, pod)) continue;
    const { name, uid, lost } = pod;
    if (lost || (!pod.ended && !pod.deleting)) draft.act({ kind: 'delete_pod', name, uid, force: lost });
    if (pod.held) draft.act({ kind: 'release_pod', name, uid });
  }
}

function isWanted(draft: Draft, { slot }: PodFact): boolean {
  const { current } = draft.status;
  if (current === undefined || slot.state !== current.state || slot.visit !== current.visit) return false;
  if (slot.step === undefined) return slot.attempt >= (current.attempt ?? 1);
  return !draft.isRecorded(slot.step);
}
