import { type Failure, type PodObservation, noResult } from './step.ts';

/**
 * Pods that the API server will never take. They exist nowhere but here, as long as their owner runs; after a restart the
 * same pod is refused again with the same words. `Slot` says which pod of its owner it is.
 */
export interface RejectedPods<Slot> {
  add(ownerUid: string, name: string, slot: Slot, failure: Failure): void;
  of(ownerUid: string): readonly RejectedPod<Slot>[];
  forget(ownerUid: string): void;
}

interface RejectedPod<Slot> extends PodObservation {
  readonly slot: Slot;
}

export function createRejectedPods<Slot>(): RejectedPods<Slot> {
  const facts = new Map<string, RejectedPod<Slot>[]>();
  return {
    add(uid, name, slot, failure) {
      const outcome = noResult(failure);
      const fact = { name, uid: '', slot, held: false, deleting: false, ended: true, lost: false, outcome };
      facts.set(uid, [...(facts.get(uid) ?? []).filter((known) => known.name !== name), fact]);
    },
    of: (uid) => facts.get(uid) ?? [],
    forget: (uid) => void facts.delete(uid),
  };
}
