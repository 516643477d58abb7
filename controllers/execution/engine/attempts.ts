import { instantAfter } from '../../../lib/instant.ts';
import type { PodSlot } from '../../../lib/pod-slot.ts';
import { isDisruption } from '../../step-pods/disruption.ts';
import { type Attempts, attemptsOf, mayRepeat, retryDelayMs } from '../../step-pods/retry.ts';
import { noResult, type PlanOrFailure } from '../../step-pods/step.ts';
import { outcomeAtDeadline, stopping } from './deadline.ts';
import type { Draft } from './draft.ts';
import type { Failure, PodFact, StepOutcome } from './facts.ts';
import { warnOfLoss } from './lost-output.ts';
import { type CurrentVisit, patched, unchanged, type VisitChange } from './reduce.ts';
import {
  causeOf,
  findPod,
  hasBegun,
  noteStart,
  podOfSlot,
  queueOutcome,
  showStart,
  showWaiting,
  waitsNoMore,
} from './starting.ts';
import { after, containerResult, type VisitUpdate, withTwins } from './state-handler.ts';

/**
 * Runs one pod at a time until an attempt succeeds or none is left (spec 1 §2.6, `retry`). `makePlan` gets the visit as
 * it is when its pod is made.
 */
export function runAttempts(draft: Draft, current: CurrentVisit, attempts: Attempts, makePlan: MakePlan): VisitUpdate {
  const { attempt = 1 } = current;
  const pod = findPod(draft, slotOf(current));
  if (stopping(draft, current)) return stopped(draft, current, pod);
  if (pod?.outcome === undefined) return proceed(draft, current, pod, makePlan);
  const retry = nextAttempt(draft, current, attempts, pod);
  if (retry !== undefined) return after(retry, proceed(draft, patched(current, retry), undefined, makePlan));
  warnOfLoss(draft, current.state, pod.outcome);
  return attemptsEnded(pod.outcome, attempt);
}

type MakePlan = (visit: CurrentVisit) => PlanOrFailure;

/** Starts the present attempt, or lets it run, or wait for as long as it may. */
function proceed(draft: Draft, current: CurrentVisit, pod: PodFact | undefined, makePlan: MakePlan): VisitUpdate {
  if (hasBegun(pod)) return { change: showStart(draft, current, pod) };
  const since = current.retry_at ?? current.entered_at;
  const made = podOfSlot(draft, slotOf(current), pod);
  const waited = queueOutcome(draft, { name: `state ${current.state}`, made, since, pod, waiting: current.waiting });
  if (waited !== undefined) return attemptsEnded(waited, current.attempt ?? 1);
  const started = pod === undefined ? start(draft, current, makePlan) : { change: unchanged };
  if (started.outcome !== undefined) return started;
  return after(started.change, { change: showWaiting(draft, current, [causeOf(draft, pod)]) });
}

function start(draft: Draft, current: CurrentVisit, makePlan: MakePlan): VisitUpdate {
  const { attempt = 1, retry_at: retryTime } = current;
  const retryAt = retryTime === undefined ? 0 : Date.parse(retryTime);
  if (draft.now < retryAt) {
    draft.wakeAt(retryAt);
    return { change: unchanged };
  }
  const plan = makePlan(current);
  if ('failure' in plan) return attemptsEnded(noResult(plan.failure), attempt);
  draft.act({ kind: 'create_pod', slot: slotOf(current), plan });
  return { change: { attempt } };
}

function stopped(draft: Draft, current: CurrentVisit, pod: PodFact | undefined): VisitUpdate {
  const { attempt = 1 } = current;
  const name = `state ${current.state}`;
  const outcome = outcomeAtDeadline(draft, current, { name, slot: slotOf(current), pod, ranBefore: attempt > 1 });
  return outcome === undefined ? { change: unchanged } : attemptsEnded(outcome, attempt);
}

/** The visit moves on to the next attempt where one is due after this one. */
function nextAttempt(
  draft: Draft,
  current: CurrentVisit,
  attempts: Attempts,
  { outcome, begunAt }: PodFact,
): VisitChange | undefined {
  const failure = outcome?.failure;
  if (failure === undefined) return undefined;
  const { disruptions = 0 } = current;
  const own = (current.attempt ?? 1) - disruptions;
  const disrupted = isDisruption(failure) && mayRepeat(attempts, disruptions);
  if (!disrupted && own >= attemptsOf(attempts)) return undefined;
  return {
    ...noteStart(draft, current, begunAt, true),
    ...(disrupted ? { disruptions: disruptions + 1 } : {}),
    ...scheduleRetry(draft, current, failure, disrupted ? 0 : retryDelayMs(attempts.retry, own + 1)),
  };
}

function scheduleRetry(draft: Draft, current: CurrentVisit, failure: Failure, delayMs: number): VisitChange {
  const { attempt = 1, state } = current;
  const { reason, message } = failure;
  draft.recordEvent('Warning', reason, `${state}: attempt ${attempt} failed: ${message}`);
  return {
    attempt: attempt + 1,
    failure: { reason, message },
    retry_at: instantAfter(draft.now, delayMs),
    ...waitsNoMore(current),
  };
}

const slotOf = ({ state, visit, attempt = 1 }: CurrentVisit): PodSlot => ({ state, visit, attempt });

function attemptsEnded(outcome: StepOutcome, attempts: number): VisitUpdate {
  const { failure } = outcome;
  return {
    outcome: {
      entry: withTwins(failure === undefined ? 'success' : 'failed', containerResult(outcome)),
      exitCode: outcome.exitCode,
      attempts,
      ...(failure === undefined ? {} : { failure }),
    },
  };
}
