import { captureFinalizer } from '../../crds/labels.ts';
import type { Pod } from '../../lib/kube/index.ts';
import { stepState } from '../../lib/pod-slot.ts';
import { type Failure, type PodObservation, type StepOutcome, noResult } from './step.ts';
import { podProblem, silenceEndsAt } from './pod-problem.ts';
import { begunAt, endedAt, type NoteOf, podWaiting } from './pod-waiting.ts';

/** The known outcome of a container. Asking reads nothing. */
export type OutcomeOf = (pod: Pod) => StepOutcome | undefined;

/** Facts of a pod for a decision. Nothing is read for it: `toRead` names reads that would give more. */
export function observePod(pod: Pod, outcomeOf: OutcomeOf, now: number, noteOf?: NoteOf): PodObservation {
  const { name = '', uid = '', finalizers = [], deletionTimestamp } = pod.metadata;
  const held = finalizers.includes(captureFinalizer);
  const problem = podProblem(pod, now);
  const outcome = outcomeOfPod(pod, problem, held ? outcomeOf : nothing);
  return {
    name,
    uid,
    held,
    deleting: deletionTimestamp !== undefined,
    ended: problem === undefined && (outcome !== undefined || hasEnded(pod)),
    lost: isLost(pod, problem, now),
    silentUntil: silenceEndsAt(pod),
    begunAt: begunAt(pod),
    endedAt: endedAt(pod),
    waiting: problem === undefined && outcome === undefined ? podWaiting(pod, noteOf) : undefined,
    outcome,
  };
}

const outcomeOfPod = (pod: Pod, problem: Failure | undefined, outcomeOf: OutcomeOf): StepOutcome | undefined =>
  problem === undefined ? outcomeOf(pod) : noResult(problem);

/** No kubelet will confirm that the pod's processes have stopped. */
const isLost = (pod: Pod, problem: Failure | undefined, now: number): boolean =>
  problem !== undefined && (problem.reason === 'NodeLost' || (silenceEndsAt(pod) ?? Number.POSITIVE_INFINITY) <= now);

/** A pod that was let go has nothing more to say. */
const nothing: OutcomeOf = () => undefined;

const hasEnded = (pod: Pod): boolean =>
  pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed' || stepState(pod)?.terminated !== undefined;

/** Where more is to be learned of a pod; undefined once its outcome is known, or it was let go. */
export function toRead({ held, outcome, waiting }: PodObservation): 'log' | 'events' | undefined {
  if (!held || outcome !== undefined || waiting?.reason === 'WaitingForNode') return undefined;
  return waiting === undefined ? 'log' : 'events';
}
