import type { StateOf } from '../../../crds/schema/state.ts';
import type { CurrentState } from '../../../crds/schema/workflow-execution-status.ts';
import { defined } from '../../../lib/defined.ts';
import {
  type AgentRun,
  agentFailure,
  agentNeverStarted,
  causeOf,
  findAgent,
  goneFailure,
  hasEnded,
  madeUid,
  notStartedInTime,
  refusalOf,
  waitingOf,
  wordsOf,
} from '../engine/agent-runs.ts';
import { agentPlan } from '../engine/agent-spec.ts';
import { stopping, timeoutFailure } from '../engine/deadline.ts';
import { type Draft, LackingFacts } from '../engine/draft.ts';
import type { AgentFact, Failure } from '../engine/facts.ts';
import { agentName } from '../engine/names.ts';
import type { VisitOutcome } from '../engine/outcome.ts';
import { noteStart, showWaiting } from '../engine/starting.ts';
import type { StateHandler } from '../engine/state-handler.ts';

/** Runs a deployed agent as an AgentExecution (spec 1 §2.6, kind Agent). */
export const agent: StateHandler<'Agent'> = (draft, state, current) => {
  // As it was written down: another version of the engine may make another name of the same state and visit.
  const run = current.child ?? { name: agentName(draft.facts.execution, current) };
  const found = findAgent(draft, current, run);
  if (found === undefined) return absent(draft, state, current, run);
  current.child = { name: found.name, uid: found.uid };
  if (hasEnded(found)) return ended(found);
  return stopping(draft, current) ? failed(lateness(current, found)) : awaitEnd(draft, current, found);
};

/** Not made yet, or gone again: made once, whether this state has seen it or not. */
function absent(draft: Draft, state: StateOf<'Agent'>, current: CurrentState, run: AgentRun): VisitOutcome | undefined {
  const uid = madeUid(draft, run);
  if (uid === undefined) return start(draft, state, current, run.name);
  current.child = { name: run.name, uid };
  return failed(goneFailure(run));
}

function start(draft: Draft, state: StateOf<'Agent'>, current: CurrentState, name: string): VisitOutcome | undefined {
  if (stopping(draft, current)) return failed(notStartedInTime(current, causeOf(draft)));
  const refusal = refusalOf(draft, [current.child?.name]);
  if (refusal !== undefined) return failed(refusal);
  const plan = agentPlan(draft, state, current);
  if ('failure' in plan) return failed(plan.failure);
  const late = agentNeverStarted(draft, current, undefined);
  if (late !== undefined) return failed(late);
  draft.act({ kind: 'create_agent', name, spec: plan.spec });
  current.child = { name };
  showWaiting(draft, current, [waitingOf(draft, current)]);
  return undefined;
}

function awaitEnd(draft: Draft, current: CurrentState, found: AgentFact): VisitOutcome | undefined {
  showWaiting(draft, current, [waitingOf(draft, current, found)]);
  noteStart(draft, current, found.startedAt);
  if (found.startedAt !== undefined) return undefined;
  const late = agentNeverStarted(draft, current, found);
  return late === undefined ? undefined : failed(late, found);
}

/** Why a state past its deadline failed: its agent took too long, or never began. */
const lateness = (current: CurrentState, found: AgentFact): Failure =>
  found.startedAt === undefined ? notStartedInTime(current, wordsOf(found)) : timeoutFailure(current);

function ended(found: AgentFact): VisitOutcome {
  if (found.output === undefined) throw new LackingFacts([{ kind: 'agent', uid: found.uid }]);
  const failure = agentFailure(found);
  if (failure !== undefined) return failed(failure, found);
  const { score, confidence } = found;
  return { entry: entryOf('success', found), ...defined({ score, confidence }) };
}

const failed = (failure: Failure, found?: AgentFact): VisitOutcome => ({
  entry: entryOf('failed', found),
  failure,
  ...defined({ score: found?.score, confidence: found?.confidence }),
});

/** spec 1 §2.6, "Blackboard entry", and `confidence` where the agent states one (requirements AMB-006). */
function entryOf(status: 'success' | 'failed', found: AgentFact | undefined): unknown {
  const { output = '', score = null, iterations = 0, confidence } = found ?? {};
  return { status, output, score, iterations, ...defined({ confidence }) };
}
