import type { Signal, WorkflowExecution } from '../../../crds/schema/workflow-execution.ts';
import type { AuditEntry, AuditTrail } from '../../../lib/bus/index.ts';
import type { Clock } from '../../../lib/clock.ts';
import { answeredIdOf } from '../../../lib/decision/approval-id.ts';
import { commitAnswer } from '../../../lib/decision/commit-answer.ts';
import type { Gate } from '../../../lib/decision/gate.ts';
import { type HumanDecision, signalFor } from '../../../lib/decision/human-decision.ts';
import { updateExecution } from '../../../lib/decision/update-execution.ts';
import { defined } from '../../../lib/defined.ts';
import { AppError, hasReason } from '../../../lib/errors.ts';
import { ExecutionError } from '../../../lib/execution/execution-error.ts';
import { defineRoute, HttpError, json, type Route } from '../../../lib/http/index.ts';
import { agentExecutions } from '../../../lib/kinds.ts';
import { findAgain, type KubeClient } from '../../../lib/kube/index.ts';
import type { Cluster } from '../../cluster/index.ts';
import type { Caller } from '../../../lib/identity/index.ts';
import { unmatchedReply } from '../unmatched-response.ts';
import { type AskedApproval, findAsked } from './asked.ts';
import { approveHumanApproval, goneText, rejectHumanApproval } from './contract.ts';
import { pendingOf } from './pending.ts';

export interface DecideDeps {
  readonly kube: Pick<KubeClient, 'get' | 'mergePatch'>;
  readonly clock: Clock;
  readonly cluster: Pick<Cluster, 'executions' | 'agentAsks' | 'agentExecutions'>;
  readonly audit: AuditTrail;
  /** Holds an answer against the rules of its state. */
  readonly gate: Gate;
}

/** A decision on a request (requirements AMB-035). */
interface Verdict {
  readonly id: string;
  readonly response: 'approved' | 'rejected';
  readonly feedback: string | undefined;
  /** The person in the client's words. */
  readonly note: string | undefined;
}

/** A decision for the audit trail. */
interface DecisionRecord extends Pick<Signal, 'response'> {
  readonly id: string;
  readonly subject: string;
  readonly at?: string;
}

export function createDecideRoutes(deps: DecideDeps): Route<Caller>[] {
  return [
    defineRoute<typeof approveHumanApproval, Caller>(approveHumanApproval, async ({ params, body, caller }) => {
      const feedback = body.feedback?.trim() === '' ? undefined : body.feedback;
      await decide(deps, caller, { id: params.id, response: 'approved', feedback, note: body.approved_by });
      return json({ status: 'approved' });
    }),
    defineRoute<typeof rejectHumanApproval, Caller>(rejectHumanApproval, async ({ params, body, caller }) => {
      const { reason, rejected_by: note } = body;
      await decide(deps, caller, { id: params.id, response: 'rejected', feedback: reason, note });
      return json({ status: 'rejected' });
    }),
  ];
}

/**
 * Writes the decision where the execution still asks for it, and resolves when it is stored. It is written against the
 * undecided version, so exactly one of several decisions is stored, and that is the one the engine takes.
 * @throws HttpError 404 for all the others, for no question, and for one of another tenant.
 */
async function decide(deps: DecideDeps, caller: Caller, verdict: Verdict): Promise<void> {
  const asked = await findAsked(deps.cluster, caller.tenant, verdict.id.toLowerCase());
  if (asked === undefined) throw gone();
  return asked.kind === 'state' ? decideState(deps, caller, verdict, asked) : decideCall(deps, caller, verdict, asked);
}

async function decideState(
  deps: DecideDeps,
  caller: Caller,
  verdict: Verdict,
  asked: AskedApproval<'state'>,
): Promise<void> {
  const { kube, clock, cluster, gate } = deps;
  const { id, execution: known } = asked;
  const subject = known.metadata.uid ?? '';
  let latest = known;
  const change = async (execution: WorkflowExecution): Promise<object> => {
    latest = execution;
    const now = clock.now();
    if (pendingOf(latest, now)?.id !== id) throw gone();
    const at = new Date(now).toISOString();
    const signal = signalOf(latest, verdict, { by: caller.subject, at });
    await gate(latest, signal);
    return { signals: [...(latest.spec.signals ?? []), signal] };
  };
  try {
    cluster.executions.remember(await updateExecution(kube, known, change));
    tell(deps, caller, { id, subject, response: verdict.response });
  } catch (error) {
    if (answeredIdOf(latest) === id) await tellAgain(deps, caller, { id, subject, execution: latest });
    throw unmatchedReply(error) ?? (error instanceof ExecutionError ? gone() : error);
  }
}

async function decideCall(
  deps: DecideDeps,
  caller: Caller,
  verdict: Verdict,
  asked: AskedApproval<'call'>,
): Promise<void> {
  const { id, execution: known } = asked;
  const { response, feedback, note } = verdict;
  const about = { id, subject: known.metadata.uid ?? '' };
  try {
    const answer = { ask: id, response, by: caller.subject, via: 'api', ...defined({ feedback, note }) };
    const { execution, signal } = await commitAnswer(deps, known, answer);
    deps.cluster.agentExecutions.remember(execution);
    tell(deps, caller, { ...about, response: signal.response });
  } catch (error) {
    if (!isGone(error)) throw error;
    const { signals = [] } = (await findAgain(deps.kube, agentExecutions, known))?.spec ?? {};
    const given = signals.find((signal) => signal.id === id);
    if (given?.by === caller.subject && given.via === 'api') tell(deps, caller, { ...given, ...about });
    throw gone();
  }
}

const isGone = (error: unknown): boolean =>
  error instanceof AppError && (hasReason(error, 'NotWaiting') || error.code === 'not_found');

/** Recorded under one id, however often it is asked for. `at` is absent where it was done just now. */
function tell({ audit }: DecideDeps, by: Caller, { id, subject, response, at }: DecisionRecord): void {
  const type = auditTypes.get(response);
  if (type !== undefined) audit.record({ type, by, subject, act: id, doneAt: at, data: { request_id: id } });
}

/** A decision that is refused may be the repetition of one of the same caller's whose answer was lost. */
async function tellAgain(
  deps: DecideDeps,
  caller: Caller,
  { id, subject, execution }: Pick<DecisionRecord, 'id' | 'subject'> & { readonly execution: WorkflowExecution },
): Promise<void> {
  const whole = await deps.cluster.executions.whole(execution);
  const given = whole?.spec.signals?.at(-1);
  if (given?.by === caller.subject && given.via === 'api') tell(deps, caller, { ...given, id, subject });
}

const auditTypes = new Map<string, AuditEntry['type']>([
  ['approved', 'HumanApprovalApproved'],
  ['rejected', 'HumanApprovalRejected'],
]);

function signalOf(
  execution: WorkflowExecution,
  { response, feedback, note }: Verdict,
  author: Pick<HumanDecision, 'by' | 'at'>,
): Signal {
  return { ...signalFor(execution, { ...author, response, feedback, via: 'api' }), note };
}

const gone = (): HttpError => new HttpError({ code: 'not_found', error: goneText });
