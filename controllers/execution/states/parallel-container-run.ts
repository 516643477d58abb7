import type { Step } from '../../../crds/schema/container.ts';
import type { StateOf } from '../../../crds/schema/state.ts';
import { ownMember } from '../../../lib/own-member.ts';
import type { PodSlot } from '../../../lib/pod-slot.ts';
import { isDisruption } from '../../step-pods/disruption.ts';
import { mayRepeat } from '../../step-pods/retry.ts';
import { noResult, type PlanOrFailure } from '../../step-pods/step.ts';
import { outcomeAtDeadline, stopping, timeoutFailure } from '../engine/deadline.ts';
import type { Draft } from '../engine/draft.ts';
import type { Failure, PodFact, StepOutcome } from '../engine/facts.ts';
import { failureOf } from '../engine/failure-of.ts';
import { warnOfLoss } from '../engine/lost-output.ts';
import { type CurrentVisit, patched, unchanged, type VisitChange } from '../engine/reduce.ts';
import {
  causeOf,
  findPod,
  firstBegun,
  hasBegun,
  noteStart,
  podOfSlot,
  queueOutcome,
  showWaiting,
} from '../engine/starting.ts';
import { containerResult, type StateHandler, type VisitOutcome, withTwins } from '../engine/state-handler.ts';
import { loadStored } from '../engine/stored.ts';
import { containerPlan } from './container-run.ts';

/** How long finished steps may wait in memory for the others before they are written down, in milliseconds. */
const recordEveryMs = 2_000;

interface StepEnd {
  readonly failed: boolean;
  readonly reason: string | undefined;
  readonly message: string | undefined;
  readonly result: unknown;
}

/** All steps start together; the state waits for every one of them (spec 1 §2.6, kind ParallelContainerRun). */
export const parallelContainerRun: StateHandler<'ParallelContainerRun'> = (draft, state, current) => {
  const open = state.steps.filter(({ name }) => ownMember(current.steps, name) === undefined);
  const pods = open.map(({ name }) => podOf(draft, current, name));
  const start = noteStart(draft, current, firstBegun(pods));
  const started = patched(current, start);
  const retried = stopping(draft, started) ? unchanged : runAgain(draft, state, started, open);
  const visit = patched(started, retried);
  const outcomes = new Map<string, StepOutcome>();
  for (const step of open) {
    const outcome = stepOutcome(draft, step, visit);
    if (outcome !== undefined) outcomes.set(step.name, outcome);
  }
  if (open.length === outcomes.size) return { outcome: allEnded(draft, state, visit, outcomes) };
  const waiting = waitingSteps(draft, visit, open);
  const recorded = recordSome(draft, patched(visit, waiting), { outcomes, begunAt: firstBegun(pods) });
  return { change: { ...start, ...retried, ...waiting, ...recorded } };
};

function waitingSteps(draft: Draft, visit: CurrentVisit, open: readonly Step[]): VisitChange {
  const queued = open.map(({ name }) => podOf(draft, visit, name)).filter((pod) => !hasBegun(pod));
  const causes = queued.map((pod) => causeOf(draft, pod));
  return showWaiting(draft, visit, causes);
}

function stepOutcome(draft: Draft, step: Step, current: CurrentVisit): StepOutcome | undefined {
  const pod = podOf(draft, current, step.name);
  if (stopping(draft, current)) {
    const ranBefore = attemptOf(current, step.name) > 1;
    return outcomeAtDeadline(draft, current, {
      name: nameOf(current, step),
      slot: slotOf(current, step),
      pod,
      ranBefore,
    });
  }
  return pod?.outcome ?? proceed(draft, step, current, pod);
}

/** Starts the present attempt of a step, or lets it run, or wait for as long as it may. */
function proceed(draft: Draft, step: Step, current: CurrentVisit, pod: PodFact | undefined): StepOutcome | undefined {
  if (hasBegun(pod)) return undefined;
  const since = ownMember(current.retried, step.name)?.queued_at ?? current.entered_at;
  const made = podOfSlot(draft, slotOf(current, step), pod);
  const waited = queueOutcome(draft, { name: nameOf(current, step), made, since, pod, waiting: current.waiting });
  if (waited !== undefined || pod !== undefined) return waited;
  return start(draft, step, current);
}

const nameOf = ({ state }: CurrentVisit, { name }: Step): string => `step ${name} of state ${state}`;

function start(draft: Draft, step: Step, current: CurrentVisit): StepOutcome | undefined {
  const plan = planOf(draft, current, step);
  if ('failure' in plan) return noResult(plan.failure);
  draft.act({ kind: 'create_pod', slot: slotOf(current, step), plan });
  return undefined;
}

/** A template that cannot be rendered fails its step alone; `completion` judges the state (spec 1 §2.6). */
function planOf(draft: Draft, current: CurrentVisit, step: Step): PlanOrFailure {
  try {
    return containerPlan(draft, current, step);
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

/** A step has no `retry` of its own, but may be run again where its node or a drain took its pod away (AMB-191). */
function runAgain(
  draft: Draft,
  state: StateOf<'ParallelContainerRun'>,
  current: CurrentVisit,
  open: readonly Step[],
): VisitChange {
  const again: NonNullable<CurrentVisit['retried']> = {};
  for (const { name } of open) {
    const failure = podOf(draft, current, name)?.outcome?.failure;
    const attempt = attemptOf(current, name);
    if (failure === undefined || !isDisruption(failure) || !mayRepeat(state, attempt - 1)) continue;
    again[name] = { attempt: attempt + 1, queued_at: draft.time };
    draft.recordEvent(
      'Warning',
      failure.reason,
      `${current.state}/${name}: attempt ${attempt} failed: ${failure.message}`,
    );
  }
  return Object.keys(again).length === 0 ? unchanged : { retried: { ...current.retried, ...again } };
}

const attemptOf = (current: CurrentVisit, step: string): number => ownMember(current.retried, step)?.attempt ?? 1;

const slotOf = (current: CurrentVisit, { name: step }: Pick<Step, 'name'>): PodSlot => ({
  state: current.state,
  visit: current.visit,
  attempt: attemptOf(current, step),
  step,
});

const podOf = (draft: Draft, current: CurrentVisit, name: string): PodFact | undefined =>
  findPod(draft, slotOf(current, { name }));

interface Finished {
  readonly outcomes: ReadonlyMap<string, StepOutcome>;
  readonly begunAt: number | undefined;
}

/** Writes finished steps down now and then, so that a burst of them costs one write. */
function recordSome(draft: Draft, current: CurrentVisit, { outcomes, begunAt }: Finished): VisitChange {
  if (outcomes.size === 0) return unchanged;
  const due = Date.parse(current.recorded_at ?? current.entered_at) + recordEveryMs;
  if (draft.now < due) {
    draft.wakeAt(due);
    return unchanged;
  }
  for (const [name, outcome] of outcomes) {
    const { failure } = outcome;
    warnOfLoss(draft, `${current.state}/${name}`, outcome);
    draft.recordStep(name, {
      status: failure === undefined ? 'success' : 'failed',
      result: containerResult(outcome),
      ...(failure === undefined ? {} : { reason: failure.reason, message: failure.message }),
    });
  }
  return { ...noteStart(draft, current, begunAt, true), recorded_at: draft.time };
}

function allEnded(
  draft: Draft,
  state: StateOf<'ParallelContainerRun'>,
  current: CurrentVisit,
  outcomes: ReadonlyMap<string, StepOutcome>,
): VisitOutcome {
  const ends = new Map<string, StepEnd>();
  for (const { name } of state.steps) ends.set(name, endOf(draft, current, name, outcomes.get(name)));
  for (const [name, outcome] of outcomes) warnOfLoss(draft, `${current.state}/${name}`, outcome);
  const failure = judge(state, current, ends);
  const output = Object.fromEntries([...ends].map(([name, end]) => [name, end.result]));
  return {
    entry: withTwins(failure === undefined ? 'success' : 'failed', output),
    ...(failure === undefined ? {} : { failure }),
  };
}

function endOf(draft: Draft, current: CurrentVisit, name: string, outcome: StepOutcome | undefined): StepEnd {
  if (outcome !== undefined) {
    const { failure } = outcome;
    return { failed: failure !== undefined, ...wordsOf(failure), result: containerResult(outcome) };
  }
  const step = ownMember(current.steps, name);
  if (step === undefined) throw new TypeError(`step ${name} has neither a record nor an outcome`);
  return { failed: step.status === 'failed', ...wordsOf(step), result: loadStored(draft, step.result) };
}

const wordsOf = (said: { readonly reason?: string; readonly message?: string } | undefined) => ({
  reason: said?.reason,
  message: said?.message,
});

/** spec 1 §2.6, `completion`; a step that was stopped for the state's timeout is one that failed (requirements AMB-168). */
function judge(
  state: StateOf<'ParallelContainerRun'>,
  current: CurrentVisit,
  ends: ReadonlyMap<string, StepEnd>,
): Failure | undefined {
  const failed = [...ends].filter(([, end]) => end.failed);
  const completion = state.completion ?? 'all_succeed';
  const tooMany = { all_succeed: 1, any_succeed: state.steps.length, best_effort: Number.POSITIVE_INFINITY }[
    completion
  ];
  if (failed.length < tooMany) return undefined;
  if (failed.some(([, { reason }]) => reason === 'StateTimeout')) return timeoutFailure(current);
  const waited = failed.find(([, { reason }]) => reason === 'NeverStarted');
  if (waited !== undefined) return { reason: 'NeverStarted', message: waited[1].message ?? waited[0] };
  return {
    reason: 'StepsFailed',
    message: `${failed.length} of ${state.steps.length} steps failed: ${failed.map(([name]) => name).join(', ')}`,
  };
}
