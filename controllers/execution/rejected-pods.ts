import type { WorkflowExecution } from '../../crds/schema/workflow-execution.ts';
import type { PodSlot } from '../../lib/pod-slot.ts';
import type { Failure, PodFact } from './engine/facts.ts';
import { noResult } from './engine/outcome.ts';

/**
 * Pods that the API server will never take. They exist nowhere but here, as long as their execution runs; after a
 * restart the same pod is refused again with the same words.
 */
export interface RejectedPods {
  add(execution: WorkflowExecution, name: string, slot: PodSlot, failure: Failure): void;
  of(executionUid: string): readonly PodFact[];
  forget(executionUid: string): void;
}

export function createRejectedPods(): RejectedPods {
  const facts = new Map<string, PodFact[]>();
  return {
    add({ metadata }, name, slot, failure) {
      const uid = metadata.uid ?? '';
      const outcome = noResult(failure);
      const fact = { name, uid: '', slot, held: false, deleting: false, ended: true, lost: false, outcome };
      facts.set(uid, [...(facts.get(uid) ?? []).filter((known) => known.name !== name), fact]);
    },
    of: (executionUid) => facts.get(executionUid) ?? [],
    forget: (executionUid) => void facts.delete(executionUid),
  };
}
