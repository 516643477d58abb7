import type { AgentExecutionReason } from '../../crds/conditions.ts';
import {
  type AgentExecution,
  type AgentExecutionStatus,
  type AgentResult,
  agentWaitReasons,
} from '../../crds/schema/agent-execution.ts';
import { openAsk } from '../../lib/decision/open-ask.ts';
import type { ContainerStateTerminated, Pod } from '../../lib/kube/index.ts';
import { stepState } from '../../lib/pod-slot.ts';
import { disruptionOf, isDisruption } from '../step-pods/disruption.ts';
import { podProblem, silenceEndsAt } from '../step-pods/pod-problem.ts';
import { endedAt, podWaiting } from '../step-pods/pod-waiting.ts';
import { agentLimits } from './limits.ts';

export interface Reasoned {
  readonly reason: AgentExecutionReason;
  readonly message: string;
}

/** How an execution ended. */
export interface End {
  readonly phase: 'completed' | 'failed' | 'cancelled';
  readonly reason: string;
  readonly message: string;
  /** Numbers of the outcome, where there is one. */
  readonly numbers?: Numbers;
}
type Numbers = Pick<AgentExecutionStatus, (typeof numberFields)[number]>;

const numberFields = [
  'score',
  'confidence',
  'iterations',
  'tool_calls',
  'input_tokens',
  'output_tokens',
  'cost_usd',
] as const;

/**
 * Whether an execution ends now. An outcome counts, whatever came after it: the agent has done its work. Then its
 * cancellation, then its deadline. Pure, like all of this file.
 */
export function decideEnd({ spec, status }: AgentExecution, now: number): End | undefined {
  if (spec.result !== undefined) return outcome(spec.result);
  if (spec.cancel !== undefined) return { phase: 'cancelled', reason: 'Cancelled', message: cancelled(spec.cancel) };
  const { deadline } = status ?? {};
  if (deadline === undefined || now < Date.parse(deadline)) return undefined;
  return failed({ reason: 'Timeout', message: `the agent gave no answer before ${deadline}${waitedFor(status)}` });
}

/** Why the execution waited when its time was over. `withRecordedEnd` adds how its conversation ended. */
function waitedFor({ phase, reason, message = '' }: AgentExecutionStatus = {}): string {
  if (reason === undefined || reason === 'OutcomePending') return '';
  const isOfPod = phase !== 'waiting' && !agentWaitReasons.some((each) => each === reason);
  return `; ${isOfPod ? 'its pod' : 'it'} waited: ${reason}: ${message}`;
}

export const failed = (why: Reasoned): End => ({ phase: 'failed', ...why });

function outcome(result: AgentResult): End {
  const isCompleted = result.phase === 'completed';
  return {
    phase: result.phase,
    reason: result.reason ?? (isCompleted ? 'Completed' : 'InternalError'),
    message: result.message ?? (isCompleted ? 'the agent gave its answer' : 'the agent failed'),
    numbers: Object.fromEntries(
      numberFields.filter((field) => result[field] !== undefined).map((field) => [field, result[field]]),
    ),
  };
}

const cancelled = ({ by, reason }: NonNullable<AgentExecution['spec']['cancel']>): string =>
  `cancelled by ${by}${reason === undefined || reason === '' ? '' : `: ${reason}`}`;

interface ConversationWait {
  /** Phase of an execution that has begun. */
  readonly phase?: 'running' | 'waiting';
  /** When the wait is over, in milliseconds since the epoch. */
  readonly until: number;
  readonly why?: Reasoned;
}

/** Why the conversation of an execution that has begun waits: for a person (ADR 0082), or for what the API says (ADR 0168). */
export function conversationWait(execution: AgentExecution, now: number): ConversationWait {
  if (execution.status?.agent === undefined) return { until: Number.POSITIVE_INFINITY };
  const ask = openAsk(execution, now);
  const { wait } = execution.spec;
  const said = wait && { why: { reason: wait.reason, message: wait.message } };
  if (ask === undefined) return { phase: 'running', until: Number.POSITIVE_INFINITY, ...said };
  const message = `a call of ${ask.tool} waits for approval until ${ask.until}`;
  return { phase: 'waiting', until: Date.parse(ask.until), why: { reason: 'WaitingForApproval', message } };
}

/** The fate of the pod of an execution that has no outcome yet. */
export type PodDecision =
  | { readonly kind: 'runs' }
  /** It waits for something, or is going; look again then, in milliseconds since the epoch. */
  | { readonly kind: 'waits'; readonly why?: Reasoned; readonly lookAt?: number }
  /** It was lost through no fault of the agent. */
  | { readonly kind: 'lost'; readonly why: Reasoned }
  | { readonly kind: 'failed'; readonly why: Reasoned };

/** `pod` is the one that the status names; undefined: it is gone. */
export function decidePod(pod: Pod | undefined, now: number): PodDecision {
  if (pod === undefined) return { kind: 'lost', why: { reason: 'PodDeleted', message: 'the pod was deleted' } };
  const problem = podProblem(pod, now);
  if (problem !== undefined) return { kind: isLoss(problem.reason) ? 'lost' : 'failed', why: problem };
  if (pod.metadata.deletionTimestamp !== undefined) return going(pod);
  const terminated = stepState(pod)?.terminated;
  return terminated === undefined && pod.status?.phase !== 'Succeeded' ? starting(pod, now) : ended(pod, now);
}

/** A drain or a person may delete a pod: the agent is not to blame. */
const isLoss = (reason: AgentExecutionReason): boolean =>
  reason === 'PodDeleted' || isDisruption({ reason: reason as 'PodDeleted', message: '' });

function going(pod: Pod): PodDecision {
  const why = disruptionOf(pod) ?? { reason: 'PodDeleted' as const, message: 'the pod was deleted' };
  if (stepState(pod)?.terminated !== undefined) return { kind: 'lost', why };
  const lookAt = silenceEndsAt(pod);
  return { kind: 'waits', why, ...(lookAt === undefined ? {} : { lookAt }) };
}

/** The outcome may be on its way through the caches; after that it never comes. */
function ended(pod: Pod, now: number): PodDecision {
  const disruption = disruptionOf(pod);
  if (disruption !== undefined) return { kind: isLoss(disruption.reason) ? 'lost' : 'failed', why: disruption };
  const until = (endedAt(pod) ?? now - agentLimits.outcomeMs) + agentLimits.outcomeMs;
  if (now < until) return { kind: 'waits', lookAt: until };
  return { kind: 'failed', why: exitOf(stepState(pod)?.terminated ?? { exitCode: 0 }) };
}

function exitOf({ exitCode, reason, message = '' }: ContainerStateTerminated): Reasoned {
  if (reason === 'OOMKilled') {
    return { reason: 'OutOfMemory', message: 'the pod used more memory than it may' };
  }
  const words = `the pod ended with exit code ${exitCode} before the agent had an outcome`;
  return { reason: 'PodFailed', message: message === '' ? words : `${words}: ${message.trim()}` };
}

const queueMinutes = agentLimits.queueMs / 60_000;

function starting(pod: Pod, now: number): PodDecision {
  const waiting = podWaiting(pod);
  if (waiting === undefined) return { kind: 'runs' };
  const { reason, message, since } = waiting;
  const until = Date.parse(pod.metadata.creationTimestamp ?? '') + agentLimits.queueMs;
  if (now >= until) {
    return {
      kind: 'failed',
      why: { reason: 'NeverStarted', message: `no container within ${queueMinutes} minutes: ${message}` },
    };
  }
  return now < since ? { kind: 'waits', lookAt: since } : { kind: 'waits', why: { reason, message }, lookAt: until };
}

/** The attempt that takes the place of a lost pod; undefined: there were as many as there may be (AMB-197). */
export const nextAttempt = (attempt: number): number | undefined =>
  attempt <= agentLimits.replacements ? attempt + 1 : undefined;

/** Whether an execution is so young that the caches may not hold what was made beside it. */
export const isNew = ({ metadata }: AgentExecution, now: number): boolean =>
  now < Date.parse(metadata.creationTimestamp ?? '') + agentLimits.unknownMs;
