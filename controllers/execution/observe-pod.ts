import { captureFinalizer } from '../../crds/labels.ts';
import type { Pod } from '../../lib/kube/index.ts';
import { slotOf, stepState } from '../../lib/pod-slot.ts';
import type { Failure, PodFact, StepOutcome } from './engine/facts.ts';
import { noResult } from './engine/outcome.ts';
import { podProblem, silenceEndsAt } from './pod-problem.ts';
import { begunAt, endedAt, type NoteOf, waitingOf } from './pod-waiting.ts';

/** Finds out what a container did; undefined while that is not known. Asking again costs nothing. */
export type OutcomeOf = (pod: Pod) => StepOutcome | undefined;

/** What deciding needs to know of a pod; undefined for one that is no step. */
export function observePod(pod: Pod, outcomeOf: OutcomeOf, now: number, noteOf?: NoteOf): PodFact | undefined {
  const slot = slotOf(pod.metadata);
  if (slot === undefined) return undefined;
  const { name = '', uid = '', finalizers = [], deletionTimestamp } = pod.metadata;
  const held = finalizers.includes(captureFinalizer);
  const problem = podProblem(pod, now);
  const outcome = outcomeOfPod(pod, problem, held ? outcomeOf : nothing);
  return {
    name,
    uid,
    slot,
    held,
    deleting: deletionTimestamp !== undefined,
    ended: problem === undefined && (outcome !== undefined || hasEnded(pod)),
    lost: isLost(pod, problem, now),
    silentUntil: silenceEndsAt(pod),
    begunAt: begunAt(pod),
    endedAt: endedAt(pod),
    waiting: problem === undefined && outcome === undefined ? waitingOf(pod, noteOf) : undefined,
    outcome,
  };
}

const outcomeOfPod = (pod: Pod, problem: Failure | undefined, outcomeOf: OutcomeOf): StepOutcome | undefined =>
  problem === undefined ? outcomeOf(pod) : noResult(problem);

/** Nobody will confirm that what runs of the pod has stopped. */
const isLost = (pod: Pod, problem: Failure | undefined, now: number): boolean =>
  problem !== undefined && (problem.reason === 'NodeLost' || (silenceEndsAt(pod) ?? Number.POSITIVE_INFINITY) <= now);

/** A pod that was let go has nothing more to say. */
const nothing: OutcomeOf = () => undefined;

const hasEnded = (pod: Pod): boolean =>
  pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed' || stepState(pod)?.terminated !== undefined;
