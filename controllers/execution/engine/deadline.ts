import type { PodSlot } from '../../../lib/pod-slot.ts';
import { isDisruption } from '../../step-pods/disruption.ts';
import type { Draft } from './draft.ts';
import type { Failure, Made, PodFact, StepOutcome } from './facts.ts';
import { noResult } from '../../step-pods/step.ts';
import { timedOut } from './state-handler.ts';
import type { CurrentVisit } from './reduce.ts';
import { hasBegun, neverStarted, podOfSlot } from './starting.ts';
import { restOn } from './rest-on.ts';

/** How long a pod that is being stopped may take to hand over its output, in milliseconds. */
const stopGraceMs = 15_000;

/** Whether the state is past its deadline. */
export function stopping(draft: Draft, current: CurrentVisit): boolean {
  return current.deadline !== undefined && draft.now >= Date.parse(current.deadline);
}

/** Why a state past its deadline failed. */
export const timeoutFailure = (current: CurrentVisit): Failure => ({
  reason: 'StateTimeout',
  message: `state ${current.state} took longer than its timeout`,
});

type MadeByVisit = Extract<Made, { readonly by: unknown }>;

const notBegun: { readonly [K in MadeByVisit['of']]: (state: string) => string } = {
  child: (state) => `the child of state ${state} did not start`,
  agent: (state) => `no agent of state ${state} started`,
  tool_call: (state) => `the tool of state ${state} was not called`,
};

/**
 * Why a state past its deadline failed: what it made took too long or never began, for which `cause` is given (requirements
 * AMB-190).
 */
export function lateFailure(draft: Draft, current: CurrentVisit, made: MadeByVisit, cause?: string): Failure {
  restOn(draft, made);
  if (cause === undefined) return timeoutFailure(current);
  const message = `${notBegun[made.of](current.state)} within the timeout of the state; ${cause}`;
  return { reason: 'NeverStarted', message };
}

/** A step of a state past its deadline. */
interface Stopped {
  readonly name: string;
  readonly slot: PodSlot;
  readonly pod: PodFact | undefined;
  /** Whether an earlier attempt of it ran. */
  readonly ranBefore: boolean;
}

/**
 * Outcome of a step of a state past its deadline (requirements AMB-070). One that ended in time keeps its own
 * outcome, one that runs is stopped, and the outcome is undefined until it has, for its output is still wanted. One
 * that has not begun never will.
 */
export function outcomeAtDeadline(
  draft: Draft,
  current: CurrentVisit,
  { name, slot, pod, ranBefore }: Stopped,
): StepOutcome | undefined {
  const failure = timeoutFailure(current);
  if (pod?.outcome !== undefined)
    return isLate(current, pod, pod.outcome) ? timedOut(pod.outcome, failure) : pod.outcome;
  if (pod !== undefined && hasBegun(pod)) return outcomeOfStop(draft, current, pod);
  const made = podOfSlot(draft, slot, pod);
  restOn(draft, made);
  if (ranBefore) return timedOut(noResult(failure), failure);
  return neverStarted(draft, { name, made, pod, waiting: current.waiting }, `the timeout of state ${current.state}`);
}

function outcomeOfStop(draft: Draft, current: CurrentVisit, pod: PodFact): StepOutcome | undefined {
  if (isBeingRead(pod)) return undefined;
  const failure = timeoutFailure(current);
  const givenUpAt = Date.parse(current.deadline ?? '') + stopGraceMs;
  if (draft.now >= givenUpAt) return timedOut(noResult(failure), failure);
  if (!pod.deleting) draft.act({ kind: 'stop_pod', name: pod.name, uid: pod.uid });
  draft.wakeAt(givenUpAt);
  return undefined;
}

/**
 * The runner's own limit never exceeds what was left of the state's, so both end at the same moment. A pod that is being
 * deleted was stopped for the deadline, unless its command had ended by itself before.
 */
function isLate({ deadline = '' }: CurrentVisit, { deleting, endedAt }: PodFact, { failure }: StepOutcome): boolean {
  if (failure?.reason === 'ContainerTimeout') return true;
  if (!deleting) return false;
  return wasStopped(failure) || endedAt === undefined || endedAt > Date.parse(deadline);
}

const wasStopped = (failure: Failure | undefined): boolean => failure?.reason === 'PodDeleted' || isDisruption(failure);

/**
 * Whether a pod has ended and its outcome is on the way. The log reader bounds that time, except while the API
 * server is away, and an outage that spans the deadline must not cost an output (design §6).
 */
const isBeingRead = ({ ended, held }: PodFact): boolean => ended && held;
