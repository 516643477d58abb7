import { toRead } from '../step-pods/observe-pod.ts';
import type { Action } from './engine/decision.ts';
import type { PodFact } from './engine/facts.ts';

/** Reads of pods, beside the decision: none of those that the decision releases. */
export function followPods(pods: readonly PodFact[], decided: readonly Action[]): Action[] {
  const released = new Set(decided.map((action) => (action.kind === 'release_pod' ? action.uid : undefined)));
  return pods.flatMap((pod): Action[] => {
    const source = released.has(pod.uid) ? undefined : toRead(pod);
    return source === undefined ? [] : [{ kind: 'follow_pod', name: pod.name, uid: pod.uid, source }];
  });
}

/** Reading needs no proof that the execution is still the one that was looked at. */
export const changesNothing = ({ kind }: Action): boolean => kind === 'follow_pod';
