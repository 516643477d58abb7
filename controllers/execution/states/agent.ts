import type { StateOf } from '../../../crds/schema/state.ts';
import { defined } from '../../../lib/defined.ts';
import { isTerminal } from '../../../lib/execution/finished.ts';
import {
  type AgentRun,
  agentFailure,
  agentNeverStarted,
  agentOf,
  findAgent,
  goneFailure,
  madeUid,
  agentRefusal,
  agentWaiting,
  agentWords,
} from '../engine/agent-runs.ts';
import { agentPlan } from '../engine/agent-spec.ts';
import { lateFailure, stopping } from '../engine/deadline.ts';
import { type Draft, LackingFacts } from '../engine/draft.ts';
import type { AgentFact, Failure } from '../engine/facts.ts';
import { agentName } from '../engine/names.ts';
import type { VisitOutcome } from '../engine/state-handler.ts';
import { type CurrentVisit, patched } from '../engine/reduce.ts';
import { noteStart, notMadeCause, showWaiting } from '../engine/starting.ts';
import { after, type StateHandler, type VisitUpdate } from '../engine/state-handler.ts';

/** Runs a deployed agent as an AgentExecution (spec 1 §2.6, kind Agent). */
export const agent: StateHandler<'Agent'> = (draft, state, current) => {
  // As it was written down: another version of the engine may make another name of the same state and visit.
  const run = current.child ?? { name: agentName(draft.facts.execution, current) };
  const found = findAgent(draft, current, run);
  if (found === undefined) return absent(draft, state, current, run);
  if (isTerminal(found)) return { outcome: ended(found) };
  if (stopping(draft, current)) return failed(lateness(draft, current, found));
  return after({ child: { name: found.name, uid: found.uid } }, awaitEnd(draft, current, found));
};

/** Not made yet, or gone again: made once, whether this state has seen it or not. */
function absent(draft: Draft, state: StateOf<'Agent'>, current: CurrentVisit, run: AgentRun): VisitUpdate {
  return madeUid(draft, run) === undefined
    ? start(draft, state, current, run)
    : failed(goneFailure(draft, current, run));
}

function start(draft: Draft, state: StateOf<'Agent'>, current: CurrentVisit, run: AgentRun): VisitUpdate {
  const { name } = run;
  if (stopping(draft, current)) return failed(lateFailure(draft, current, agentOf(current, run), notMadeCause(draft)));
  const refusal = agentRefusal(draft, [current.child?.name]);
  if (refusal !== undefined) return failed(refusal);
  const plan = agentPlan(draft, state, current);
  if ('failure' in plan) return failed(plan.failure);
  const late = agentNeverStarted(draft, current, run);
  if (late !== undefined) return failed(late);
  draft.act({ kind: 'create_agent', name, spec: plan.spec });
  return { change: { child: { name }, ...showWaiting(draft, current, [agentWaiting(draft, current)]) } };
}

function awaitEnd(draft: Draft, current: CurrentVisit, found: AgentFact): VisitUpdate {
  const waiting = showWaiting(draft, current, [agentWaiting(draft, current, found)]);
  const visit = patched(current, waiting);
  const change = { ...waiting, ...noteStart(draft, visit, found.startedAt) };
  const late = found.startedAt === undefined ? agentNeverStarted(draft, visit, found, found) : undefined;
  return late === undefined ? { change } : failed(late, found);
}

function lateness(draft: Draft, current: CurrentVisit, found: AgentFact): Failure {
  const cause = found.startedAt === undefined ? agentWords(found) : undefined;
  return lateFailure(draft, current, agentOf(current, found), cause);
}

function ended(found: AgentFact): VisitOutcome {
  if (found.output === undefined) throw new LackingFacts([{ kind: 'agent', uid: found.uid }]);
  const failure = agentFailure(found);
  if (failure !== undefined) return failedOutcome(failure, found);
  const { score, confidence } = found;
  return { entry: entryOf('success', found), ...defined({ score, confidence }) };
}

const failed = (failure: Failure, found?: AgentFact): VisitUpdate => ({ outcome: failedOutcome(failure, found) });

const failedOutcome = (failure: Failure, found?: AgentFact): VisitOutcome => ({
  entry: entryOf('failed', found),
  failure,
  ...defined({ score: found?.score, confidence: found?.confidence }),
});

/** spec 1 §2.6, "Blackboard entry", and `confidence` where the agent states one (requirements AMB-006). */
function entryOf(status: 'success' | 'failed', found: AgentFact | undefined): unknown {
  const { output = '', score = null, iterations = 0, confidence } = found ?? {};
  return { status, output, score, iterations, ...defined({ confidence }) };
}
