import { limits } from '../../crds/limits.ts';
import type { Retry } from '../../crds/schema/container.ts';
import type { CurrentState } from '../../crds/schema/workflow-execution-status.ts';
import { parseDuration } from '../../lib/duration.ts';
import { instantAfter } from '../../lib/instant.ts';
import { outcomeAtDeadline, stopping } from './deadline.ts';
import type { Draft } from './draft.ts';
import type { Failure, PodFact, StepOutcome } from './facts.ts';
import { warnOfLoss } from './lost-output.ts';
import { containerResult, noResult, type VisitOutcome, withTwins } from './outcome.ts';
import type { PlanOrFailure } from './step-plan.ts';

/**
 * Runs one pod at a time until an attempt succeeds or none is left (spec 1 §2.6, `retry`). Undefined while the state
 * goes on; what must happen meanwhile is in the draft.
 */
export function runAttempts(
  draft: Draft,
  current: CurrentState,
  retry: Retry | undefined,
  makePlan: () => PlanOrFailure,
): VisitOutcome | undefined {
  const attempt = current.attempt ?? 1;
  const pod = podOf(draft, current, attempt);
  if (stopping(draft, current)) return stopped(draft, current, pod);
  if (pod === undefined) return start(draft, current, attempt, makePlan);
  if (pod.outcome === undefined) return undefined;
  const { failure } = pod.outcome;
  if (failure === undefined || attempt >= (retry?.max_attempts ?? limits.retryAttemptsDefault)) {
    warnOfLoss(draft, current.state, pod.outcome);
    return attemptsEnded(pod.outcome, attempt);
  }
  scheduleRetry(draft, current, failure, retryDelayMs(retry, attempt + 1));
  return start(draft, current, attempt + 1, makePlan);
}

/** Delay before attempt k ≥ 2 in milliseconds: backoff · 2^(k−2) (requirements AMB-078). */
function retryDelayMs(retry: Retry | undefined, attempt: number): number {
  const backoff = retry?.backoff ?? limits.retryBackoffDefault;
  return parseDuration(backoff, { field: 'retry.backoff', allowZero: true }) * 2 ** (attempt - 2);
}

function start(
  draft: Draft,
  current: CurrentState,
  attempt: number,
  makePlan: () => PlanOrFailure,
): VisitOutcome | undefined {
  const retryAt = current.retry_at === undefined ? 0 : Date.parse(current.retry_at);
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
  const outcome = outcomeAtDeadline(draft, current, pod);
  return outcome === undefined ? undefined : attemptsEnded(outcome, current.attempt ?? 1);
}

function scheduleRetry(draft: Draft, current: CurrentState, failure: Failure, delayMs: number): void {
  const next = (current.attempt ?? 1) + 1;
  current.attempt = next;
  current.failure = { reason: failure.reason, message: failure.message };
  current.retry_at = instantAfter(draft.now, delayMs);
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
