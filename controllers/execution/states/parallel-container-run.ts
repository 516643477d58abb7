import type { Step } from '../../../crds/schema/container.ts';
import type { StateOf } from '../../../crds/schema/state.ts';
import type { CurrentState } from '../../../crds/schema/workflow-execution-status.ts';
import { ownMember } from '../../../lib/own-member.ts';
import { containerPlan } from '../container-plan.ts';
import { outcomeAtDeadline, stopping, timeoutFailure } from '../deadline.ts';
import type { Draft } from '../draft.ts';
import type { Failure, PodFact, StepOutcome } from '../facts.ts';
import { warnOfLoss } from '../lost-output.ts';
import { containerResult, noResult, type VisitOutcome, withTwins } from '../outcome.ts';
import type { StateHandler } from '../state-handler.ts';
import { loadStored } from '../stored.ts';

/** How long finished steps may wait in memory for the others before they are written down, in milliseconds. */
const recordEveryMs = 2_000;

interface StepEnd {
  readonly failed: boolean;
  readonly reason: string | undefined;
  readonly result: unknown;
}

/** All steps start together; the state waits for every one of them (spec 1 §2.6, kind ParallelContainerRun). */
export const parallelContainerRun: StateHandler<'ParallelContainerRun'> = (draft, state, current) => {
  const outcomes = new Map<string, StepOutcome>();
  for (const step of state.steps) {
    const outcome = ownMember(current.steps, step.name) === undefined ? stepOutcome(draft, step, current) : undefined;
    if (outcome !== undefined) outcomes.set(step.name, outcome);
  }
  const recorded = Object.keys(current.steps ?? {}).length;
  if (recorded + outcomes.size === state.steps.length) return allEnded(draft, state, current, outcomes);
  if (outcomes.size > 0) recordSome(draft, current, outcomes);
  return undefined;
};

function stepOutcome(draft: Draft, step: Step, current: CurrentState): StepOutcome | undefined {
  const pod = podOf(draft, current, step.name);
  if (stopping(draft, current)) return outcomeAtDeadline(draft, current, pod);
  if (pod !== undefined) return pod.outcome;
  const plan = containerPlan(draft, current, step);
  if ('failure' in plan) return noResult(plan.failure);
  draft.act({
    kind: 'create_pod',
    slot: { state: current.state, visit: current.visit, attempt: 1, step: step.name },
    plan,
  });
  return undefined;
}

function podOf(draft: Draft, current: CurrentState, step: string): PodFact | undefined {
  return draft.facts.pods.find(
    ({ slot }) => slot.state === current.state && slot.visit === current.visit && slot.step === step,
  );
}

/** Writes finished steps down now and then, so that a burst of them costs one write. */
function recordSome(draft: Draft, current: CurrentState, outcomes: ReadonlyMap<string, StepOutcome>): void {
  const due = Date.parse(current.recorded_at ?? current.entered_at) + recordEveryMs;
  if (draft.now < due) return draft.wakeAt(due);
  for (const [name, outcome] of outcomes) {
    const { failure } = outcome;
    warnOfLoss(draft, `${current.state}/${name}`, outcome);
    draft.recordStep(name, {
      status: failure === undefined ? 'success' : 'failed',
      result: containerResult(outcome),
      ...(failure === undefined ? {} : { reason: failure.reason, message: failure.message }),
    });
  }
  current.recorded_at = draft.time;
}

function allEnded(
  draft: Draft,
  state: StateOf<'ParallelContainerRun'>,
  current: CurrentState,
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

function endOf(draft: Draft, current: CurrentState, name: string, outcome: StepOutcome | undefined): StepEnd {
  if (outcome !== undefined) {
    const { failure } = outcome;
    return { failed: failure !== undefined, reason: failure?.reason, result: containerResult(outcome) };
  }
  const step = ownMember(current.steps, name);
  if (step === undefined) throw new TypeError(`step ${name} has neither a record nor an outcome`);
  return { failed: step.status === 'failed', reason: step.reason, result: loadStored(draft, step.result) };
}

/** spec 1 §2.6, `completion`; a step that was stopped for the state's timeout is one that failed (requirements AMB-168). */
function judge(
  state: StateOf<'ParallelContainerRun'>,
  current: CurrentState,
  ends: ReadonlyMap<string, StepEnd>,
): Failure | undefined {
  const failed = [...ends].filter(([, end]) => end.failed);
  const completion = state.completion ?? 'all_succeed';
  const tooMany = { all_succeed: 1, any_succeed: state.steps.length, best_effort: Number.POSITIVE_INFINITY }[
    completion
  ];
  if (failed.length < tooMany) return undefined;
  if (failed.some(([, { reason }]) => reason === 'StateTimeout')) return timeoutFailure(current);
  return {
    reason: 'StepsFailed',
    message: `${failed.length} of ${state.steps.length} steps failed: ${failed.map(([name]) => name).join(', ')}`,
  };
}
