import { captureFinalizer } from '../../crds/labels.ts';
import type { Pod } from '../../lib/kube/index.ts';
import type { PodFact, StepOutcome } from './facts.ts';
import { noResult } from './outcome.ts';
import { slotOf } from './pod.ts';
import { podProblem, stepState } from './pod-problem.ts';

/** Finds out what a container did; undefined while that is not known. Asking again costs nothing. */
export type OutcomeOf = (pod: Pod) => StepOutcome | undefined;

/** What deciding needs to know of a pod; undefined for one that is no step. */
export function observePod(pod: Pod, outcomeOf: OutcomeOf, now: number): PodFact | undefined {
  const slot = slotOf(pod);
  if (slot === undefined) return undefined;
  const problem = podProblem(pod, now);
  const outcome = problem === undefined ? outcomeOf(pod) : noResult(problem);
  const { metadata } = pod;
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    slot,
    held: metadata.finalizers?.includes(captureFinalizer) === true,
    deleting: metadata.deletionTimestamp !== undefined,
    ended: problem === undefined && (outcome !== undefined || hasEnded(pod)),
    lost: problem?.reason === 'NodeLost',
    ...(outcome === undefined ? {} : { outcome }),
  };
}

const hasEnded = (pod: Pod): boolean =>
  pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed' || stepState(pod)?.terminated !== undefined;
