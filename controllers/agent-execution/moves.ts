import type { AgentSpec } from '../../crds/schema/agent.ts';
import type { AgentExecution, AgentExecutionStatus } from '../../crds/schema/agent-execution.ts';
import type { PinnedAgent } from '../../lib/agent/pinned-agent.ts';
import { parseDuration } from '../../lib/duration.ts';
import type { Pod } from '../../lib/kube/index.ts';
import type { ReconcileResult } from '../runtime/outcome.ts';
import { conversationWait, type End, failed, isNew, nextAttempt, type Reasoned } from './decide.ts';
import { agentLimits } from './limits.ts';
import type { Wait } from './pod/make-pod.ts';
import { endedStatus, statusWith } from './status.ts';

/** One step of an execution, as decided on this version of it: actions, and then one write of the status (`apply.ts`). */
export type Move = Rest | Ended | Further;

interface Decided {
  readonly execution: AgentExecution;
  readonly status: AgentExecutionStatus;
  /** Carried out before the status is written. */
  readonly actions?: readonly PodAction[];
}

/** Nothing more is to be done now. */
interface Rest extends Decided {
  readonly kind: 'rests';
  readonly again: ReconcileResult;
}

interface Ended extends Decided {
  readonly kind: 'ends';
  readonly end: End;
}

/** The next move follows at once. */
interface Further extends Decided {
  readonly kind: 'goes_on';
  /** The definition that was read for this move. */
  readonly agent?: AgentSpec;
}

export type PodAction =
  | { readonly kind: 'release_pod' }
  /** Says in an Event why a new pod takes the place of another. */
  | { readonly kind: 'record_loss'; readonly why: Reasoned };

interface Pause {
  readonly why?: Reasoned | undefined;
  /** Milliseconds to the next look; absent: only the end of a wait and the deadline count. */
  readonly againMs?: number;
}

/** Waits for `againMs`, and no longer than to the deadline or the end of a question to a person. All of this file is pure. */
export function rest(
  execution: AgentExecution,
  now: number,
  { why, againMs = Number.POSITIVE_INFINITY }: Pause = {},
): Rest {
  const { phase, until, why: waiting } = conversationWait(execution, now);
  const shown = why ?? waiting;
  const status = statusWith(execution, now, phase === undefined ? {} : { phase }, shown);
  const left = Math.min(againMs, deadlineOf(status) - now, until - now);
  return { kind: 'rests', execution, status, again: after(left, shown?.reason ?? 'deadline') };
}

const deadlineOf = ({ deadline = '' }: AgentExecutionStatus): number =>
  Date.parse(deadline) || Number.POSITIVE_INFINITY;

const after = (ms: number, reason: string): ReconcileResult =>
  ms === Number.POSITIVE_INFINITY ? undefined : { requeueAfterMs: Math.max(0, ms), reason };

/** Waits beyond the deadline for an outcome that is being stored. */
export function restLate(
  execution: AgentExecution,
  now: number,
  { why, againMs }: { readonly why: Reasoned; readonly againMs: number },
): Rest {
  const again = { requeueAfterMs: againMs, reason: why.reason };
  return { kind: 'rests', execution, status: statusWith(execution, now, {}, why), again };
}

export const ends = (execution: AgentExecution, now: number, end: End): Ended => ({
  kind: 'ends',
  execution,
  status: endedStatus(execution, now, end),
  end,
});

/** Waits for the agent. The cache may lack that of a young execution; later a change of the agent wakes the execution. */
export const restForAgent = (execution: AgentExecution, now: number, why: Reasoned): Rest =>
  rest(execution, now, { why, againMs: isNew(execution, now) ? agentLimits.lookAgainMs : agentLimits.agentAgainMs });

/** Fixes the definition, and from then on counts the time. */
export function begins(
  execution: AgentExecution,
  now: number,
  { agent, spec }: { readonly agent: PinnedAgent; readonly spec: AgentSpec },
): Further {
  const text = execution.spec.timeout ?? spec.execution?.timeout ?? agentLimits.timeout;
  const longest = Math.min(parseDuration(text, { field: 'timeout' }), agentLimits.longestMs);
  const status = statusWith(execution, now, {
    phase: 'running',
    agent,
    started_at: new Date(now).toISOString(),
    deadline: new Date(now + longest).toISOString(),
  });
  return { kind: 'goes_on', execution, status, agent: spec };
}

/** Names the pod in the status: from then on that pod, and no other, may attest. */
export function names(
  execution: AgentExecution,
  now: number,
  { attempt, pod }: { readonly attempt: number; readonly pod: Pod },
): Further {
  const { name = '', uid = '' } = pod.metadata;
  return { kind: 'goes_on', execution, status: statusWith(execution, now, { pod: { name, attempt, uid } }) };
}

type Refused = (Wait & { readonly kind: 'waits' }) | { readonly kind: 'failed'; readonly why: Reasoned };

/**
 * The API server refuses the pod, or its network. The first pod is wanted from the start of the execution on. One that takes the
 * place of a lost pod waits to the deadline.
 */
export function withoutRoom(execution: AgentExecution, now: number, refused: Refused): Rest | Ended {
  const { why } = refused;
  if (refused.kind === 'failed') return ends(execution, now, failed(why));
  const { started_at: begun = '', pod } = execution.status ?? {};
  const isFirst = (pod?.attempt ?? 1) === 1;
  const left = isFirst ? (Date.parse(begun) || now) + agentLimits.queueMs - now : Number.POSITIVE_INFINITY;
  if (left <= 0) return ends(execution, now, failed(why));
  const againMs = Math.min(left, refused.inLine === true ? agentLimits.quotaMs : agentLimits.roomMs);
  return rest(execution, now, { why, againMs });
}

/** requirements AMB-197: the conversation continues in a new pod, three times at most; undefined: it was the last one. */
export function replaces(execution: AgentExecution, now: number, why: Reasoned): Further | undefined {
  const { name = '', attempt: before = 1 } = execution.status?.pod ?? {};
  const attempt = nextAttempt(before);
  if (attempt === undefined) return undefined;
  const status = statusWith(execution, now, { pod: { name, attempt } });
  return { kind: 'goes_on', execution, status, actions: [{ kind: 'release_pod' }, { kind: 'record_loss', why }] };
}

/** Why an execution fails whose last pod is lost. */
export const lostTooOften = ({ status }: AgentExecution, { reason, message }: Reasoned): Reasoned => ({
  reason: 'PodLost',
  message: `the pod was lost ${status?.pod?.attempt ?? 1} times; at last: ${reason}: ${message}`,
});

/** A pod failed. An outcome that the conversation has counts, whatever became of its pod. */
export function endsByPod(
  execution: AgentExecution,
  now: number,
  { isPending, ...why }: Reasoned & { readonly isPending: boolean },
): Rest | Ended {
  if (isPending) return rest(execution, now, { why, againMs: agentLimits.outcomeMs });
  return ends(execution, now, failed(why));
}
