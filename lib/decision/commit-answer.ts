import { limits } from '../../crds/limits.ts';
import type { AgentExecution, AgentSignal } from '../../crds/schema/agent-execution.ts';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { agentExecutions } from '../kinds.ts';
import { findAgain, type KubeClient, whileRaced } from '../kube/index.ts';
import { openAsk } from './open-ask.ts';

interface AnswerDeps {
  readonly kube: Pick<KubeClient, 'get' | 'mergePatch'>;
  readonly clock: Clock;
}

interface Answer extends Omit<AgentSignal, 'id' | 'at'> {
  /** The ask that is meant; absent: the one that waits. */
  readonly ask?: string;
}

interface Answered {
  readonly execution: AgentExecution;
  readonly signal: AgentSignal;
}

/**
 * Answers the tool call that waits for a person (ADR 0082). It is written against the version in which it had no answer, so
 * of any number of answers one is stored.
 * @throws AppError `conflict` NotWaiting for all the others, `not_found` where the execution is gone, `invalid` for a feedback
 * that is too long.
 */
export async function commitAnswer(
  { kube, clock }: AnswerDeps,
  execution: AgentExecution,
  answer: Answer,
): Promise<Answered> {
  checkFeedback(answer);
  return whileRaced(clock, async () => {
    const latest = await findAgain(kube, agentExecutions, execution);
    if (latest === undefined) throw new AppError('not_found', `execution ${execution.metadata.name} was deleted`);
    const signal = signalOf(latest, answer, clock.now());
    return { execution: await kube.mergePatch(agentExecutions, refOf(latest), patchOf(latest, signal)), signal };
  });
}

function checkFeedback({ feedback = '' }: Answer): void {
  const most = limits.askFeedbackLength;
  if (feedback.length <= most) return;
  throw new AppError('invalid', `feedback or reason: at most ${most} characters where a tool call is decided`);
}

function signalOf(latest: AgentExecution, { ask: wanted, ...answer }: Answer, now: number): AgentSignal {
  const ask = openAsk(latest, now);
  if (ask === undefined || (wanted ?? ask.id) !== ask.id) throw notWaiting(latest);
  return { id: ask.id, ...answer, at: new Date(now).toISOString() };
}

const refOf = ({ metadata: { name, namespace = '' } }: AgentExecution) => ({ name, namespace });

const patchOf = (
  { metadata: { resourceVersion, uid }, spec: { signals = [] } }: AgentExecution,
  signal: AgentSignal,
) => ({
  metadata: { resourceVersion, uid },
  spec: { signals: [...signals, signal] },
});

function notWaiting({ metadata, spec, status }: AgentExecution): AppError {
  const last = spec.signals?.at(-1);
  const before = last === undefined ? '' : `; the last call was ${last.response} by ${last.by}`;
  const message = `${metadata.name} has no tool call that waits for a person: it is ${status?.phase ?? 'pending'}${before}`;
  return new AppError('conflict', message, { reason: 'NotWaiting' });
}
