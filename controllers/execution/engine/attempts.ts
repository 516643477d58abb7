import type { CurrentState } from '../../../crds/schema/workflow-execution-status.ts';
import { instantAfter } from '../../../lib/instant.ts';
import { isDisruption } from '../../step-pods/disruption.ts';
import { type Attempts, attemptsOf, mayRepeat, retryDelayMs } from '../../step-pods/retry.ts';
import type { PlanOrFailure } from '../../step-pods/step-plan.ts';
import { outcomeAtDeadline, stopping } from './deadline.ts';
import type { Draft } from './draft.ts';
import type { Failure, PodFact, StepOutcome } from './facts.ts';
import { warnOfLoss } from './lost-output.ts';
import { containerResult, noResult, type VisitOutcome, withTwins } from './outcome.ts';
import { causeOf, hasBegun, noteStart, queueOutcome, showWaiting } from './starting.ts';

/**
 * Runs one pod at a time until an attempt succeeds or none is left (spec 1 §2.6, `retry`). Undefined while the state
 * goes on; what must happen meanwhile is in the draft.
 */
export function runAttempts(
  draft: Draft,
  current: CurrentState,
  attempts: Attempts,
  makePlan: () => PlanOrFailure,
): VisitOutcome | undefined {
  const attempt = current.attempt ?? 1;
  const pod = podOf(draft, current, attempt);
  if (stopping(draft, current)) return stopped(draft, current, pod);
  if (pod?.outcome === undefined) return proceed(draft, current, pod, makePlan);
  if (!isTriedAgain(draft, current, attempts, pod)) {
    warnOfLoss(draft, current.state, pod.outcome);
    return attemptsEnded(pod.outcome, attempt);
  }
  return proceed(draft, current, undefined, makePlan);
}

/** Starts the present attempt, or lets it run, or wait for as long as it may. */
function proceed(
  draft: Draft,
  current: CurrentState,
  pod: PodFact | undefined,
  makePlan: () => PlanOrFailure,
): VisitOutcome | undefined {
  if (hasBegun(pod)) {
    noteStart(draft, current, pod?.begunAt);
    delete current.waiting;
    return undefined;
  }
  const since = current.retry_at ?? current.entered_at;
  const waited = queueOutcome(draft, { name: `state ${current.state}`, since, pod });
  if (waited !== undefined) return attemptsEnded(waited, current.attempt ?? 1);
  const ended = pod === undefined ? start(draft, current, makePlan) : undefined;
  if (ended === undefined) showWaiting(draft, current, [causeOf(draft, pod)]);
  return ended;
}

function start(draft: Draft, current: CurrentState, makePlan: () => PlanOrFailure): VisitOutcome | undefined {
  const { attempt = 1, retry_at: retryTime } = current;
  const retryAt = retryTime === undefined ? 0 : Date.parse(retryTime);
  if (draft.now < retryAt) {
    draft.wakeAt(retryAt);
    return undefined;
  }
  const plan = makePlan();
  if ('failure' in plan) return attemptsEnded(noResult(plan.failure), attempt);
  current.attempt = attempt;
  const slot = { state: current.state, visit: current.visit, attempt };
  draft.act({ kind: 'create_pod', slot, plan });
  return undefined;
}

function stopped(draft: Draft, current: CurrentState, pod: PodFact | undefined): VisitOutcome | undefined {
  const { attempt = 1 } = current;
  const outcome = outcomeAtDeadline(draft, current, { name: `state ${current.state}`, pod, ranBefore: attempt > 1 });
  return outcome === undefined ? undefined : attemptsEnded(outcome, attempt);
}

/** Whether the next attempt is due after this one; then it is the present one. */
function isTriedAgain(draft: Draft, current: CurrentState, attempts: Attempts, { outcome, begunAt }: PodFact): boolean {
  const failure = outcome?.failure;
  if (failure === undefined) return false;
  const { disruptions = 0 } = current;
  const own = (current.attempt ?? 1) - disruptions;
  const disrupted = isDisruption(failure) && mayRepeat(attempts, disruptions);
  if (!disrupted && own >= attemptsOf(attempts)) return false;
  noteStart(draft, current, begunAt, true);
  if (disrupted) current.disruptions = disruptions + 1;
  scheduleRetry(draft, current, failure, disrupted ? 0 : retryDelayMs(attempts.retry, own + 1));
  return true;
}

function scheduleRetry(draft: Draft, current: CurrentState, failure: Failure, delayMs: number): void {
  const next = (current.attempt ?? 1) + 1;
  current.attempt = next;
  current.failure = { reason: failure.reason, message: failure.message };
  current.retry_at = instantAfter(draft.now, delayMs);
  delete current.waiting;
  draft.say('Warning', failure.reason, `${current.state}: attempt ${next - 1} failed: ${failure.message}`);
}

function podOf(draft: Draft, current: CurrentState, attempt: number): PodFact | undefined {
  return draft.facts.pods.find(
    ({ slot }) => slot.state === current.state && slot.visit === current.visit && slot.attempt === attempt,
  );
}

function attemptsEnded(outcome: StepOutcome, attempts: number): VisitOutcome {
  const { failure } = outcome;
  return {
    entry: withTwins(failure === undefined ? 'success' : 'failed', containerResult(outcome)),
    exitCode: outcome.exitCode,
    attempts,
    ...(failure === undefined ? {} : { failure }),
  };
}
