import { limits } from '../../../crds/limits.ts';
import type { State } from '../../../crds/schema/state.ts';
import type { StateKind } from '../../../crds/schema/state-kinds.ts';
import type { Transition } from '../../../crds/schema/transition.ts';
import type { FailureCause, Visit, WorkflowExecutionStatus } from '../../../crds/schema/workflow-execution-status.ts';
import { cutMark, cutMiddle, cutText, cutWithMark } from '../../../lib/cut-text.ts';
import { defined } from '../../../lib/defined.ts';
import { parseDuration } from '../../../lib/duration.ts';
import { instantAfter } from '../../../lib/instant.ts';
import { ownMember } from '../../../lib/own-member.ts';
import { agent } from '../states/agent.ts';
import { containerRun } from '../states/container-run.ts';
import { human, waitingText } from '../states/human.ts';
import { parallelAgents } from '../states/parallel-agents.ts';
import { parallelContainerRun } from '../states/parallel-container-run.ts';
import { subworkflow } from '../states/subworkflow.ts';
import { system } from '../states/system.ts';
import { firstMatch } from './first-match.ts';
import type { Draft } from './draft.ts';
import type { Failure } from './facts.ts';
import { failureOf } from './failure-of.ts';
import { finish } from './finish.ts';
import { lackingValues } from './lacking.ts';
import type { CurrentVisit, VisitChange } from './reduce.ts';
import { renderText, templateScope } from './scope.ts';
import type { StateHandler, VisitOutcome, VisitUpdate } from './state-handler.ts';

/** A state kind that is missing here fails to compile. */
const handlers: { readonly [K in StateKind]: StateHandler<K> } = {
  Agent: agent,
  System: system,
  Human: human,
  ParallelAgents: parallelAgents,
  ContainerRun: containerRun,
  ParallelContainerRun: parallelContainerRun,
  Subworkflow: subworkflow,
};

/** Room for a message or a response in the history of visits, in characters; 101 visits must fit one status. */
const visitMessageLength = 256;

/**
 * Takes the execution from state to state until one has something to wait for, it ends, or the turn is over (spec 1 §3.3).
 * The limits on visits and transitions bound the loop.
 */
export function advance(draft: Draft): void {
  for (;;) {
    const { current } = draft.status;
    const state = draft.currentState();
    if (current === undefined || state === undefined) return;
    if (draft.isTurnOver) return rest(draft, current);
    const update = updateOf(draft, state, current);
    if (update.outcome === undefined) return pause(draft, update.change);
    leave(draft, state, current, update.outcome);
    draft.hasProgress = true;
    if (draft.facts.refused !== undefined) draft.wakeAt(draft.now);
  }
}

function updateOf(draft: Draft, state: State, current: CurrentVisit): VisitUpdate {
  const { refused } = draft.facts;
  if (refused !== undefined && refused.consequence !== 'one_state') {
    const fatal = refused.consequence === 'execution_fails';
    return { outcome: { entry: { status: 'failed', output: null }, failure: refused.failure, fatal } };
  }
  try {
    const update = runState(draft, state, current);
    draft.weigh(update.outcome?.entry);
    for (const value of Object.values(update.outcome?.writes ?? {})) draft.weigh(value);
    return update;
  } catch (error) {
    return { outcome: { entry: { status: 'failed', output: null }, failure: failureOf(error) } };
  }
}

function runState(draft: Draft, state: State, current: CurrentVisit): VisitUpdate {
  // The kind picks handler and state together, which the type system cannot see through a union.
  const handler = handlers[state.kind] as (draft: Draft, state: State, current: CurrentVisit) => VisitUpdate;
  return handler(draft, state, current);
}

/** The rest follows in the next turn of the event loop, after the work of others. */
function rest(draft: Draft, current: CurrentVisit): void {
  draft.change({
    kind: 'status',
    fields: { phase: 'running', reason: 'Running', message: `in state ${current.state}` },
  });
  draft.wakeAt(draft.now);
}

/**
 * Nothing more to decide for now; the deadline of the state is the last thing that wakes us. One that this turn has found to
 * have passed has yet to be acted on.
 */
function pause(draft: Draft, change: VisitChange): void {
  draft.change({ kind: 'visit', fields: change });
  const { status } = draft;
  const { current } = status;
  if (current === undefined) return;
  const waiting = current.kind === 'Human';
  if (waiting && status.phase !== 'waiting')
    draft.recordEvent('Normal', 'WaitingForSignal', `${current.state}: ${current.prompt ?? ''}`);
  draft.change({ kind: 'status', fields: waiting ? humanSummary(draft, current) : runningSummary(current) });
  const deadline = Date.parse(current.deadline ?? '');
  if (deadline > draft.now || change.deadline !== undefined) draft.wakeAt(Math.max(deadline, draft.now));
}

type Summary = Pick<WorkflowExecutionStatus, 'phase' | 'reason' | 'message'>;

const humanSummary = (draft: Draft, current: CurrentVisit): Summary => ({
  phase: 'waiting',
  reason: 'WaitingForSignal',
  message: waitingText(draft, current),
});

const runningSummary = ({ state, waiting }: CurrentVisit): Summary => ({
  phase: 'running',
  reason: waiting?.reason ?? 'Running',
  message: waiting === undefined ? `in state ${state}` : `state ${state} waits: ${waiting.message}`,
});

function leave(draft: Draft, state: State, current: CurrentVisit, outcome: VisitOutcome): void {
  record(draft, current, outcome);
  if (outcome.fatal === true && outcome.failure !== undefined) return finish(draft, 'failed', outcome.failure);
  if (state.transitions.length === 0) return finish(draft, 'completed', lastFailure(draft, current, outcome));
  const choice = chooseRule(draft, state, outcome);
  if ('reason' in choice) return finish(draft, 'failed', choice);
  draft.change({ kind: 'routed', rule: choice.index, target: choice.rule.target });
  take(draft, choice.rule);
}

/** requirements AMB-169: the end is reached all the same, and says that its last state failed. */
function lastFailure(draft: Draft, { state }: CurrentVisit, { failure, cause }: VisitOutcome): Failure | undefined {
  if (failure === undefined) return undefined;
  draft.change({ kind: 'status', fields: { cause } });
  return {
    reason: 'LastStateFailed',
    message: `terminal state ${state} failed: ${failure.reason}: ${failure.message}`,
  };
}

/** Writes the output down before any rule is tested (spec 1 §3.3). */
function record(draft: Draft, current: CurrentVisit, outcome: VisitOutcome): void {
  const { failure } = outcome;
  const before = draft.status.history?.findLastIndex(({ state }) => state === current.state) ?? -1;
  if (before !== -1) draft.supersede(before, current.state);
  draft.change({ kind: 'left', visit: visitOf(draft, current, outcome) });
  draft.write(current.state, outcome.entry);
  for (const [key, value] of Object.entries(outcome.writes ?? {})) draft.write(key, value);
  // A gate without an answer shows nothing, for an earlier gate's answer must not pass it (requirements AMB-171).
  if (current.kind === 'Human') draft.setHumanFeedback(outcome.humanFeedback ?? '');
  if (failure !== undefined) draft.recordEvent('Warning', failure.reason, `${current.state}: ${failure.message}`);
}

function visitOf(draft: Draft, { state, kind, visit, entered_at }: CurrentVisit, outcome: VisitOutcome): Visit {
  const { failure, cause, attempts, signal } = outcome;
  return {
    state,
    kind,
    visit,
    status: failure === undefined ? 'success' : 'failed',
    reason: failure?.reason,
    message: failure && cutMessage(failure.message, cause),
    attempts,
    entered_at,
    finished_at: draft.time,
    // The whole response is in the signal and on the Blackboard.
    signal: signal && { ...signal, response: cutText(signal.response, visitMessageLength) },
  };
}

/** With a cause, all that says where it was is at the beginning. */
const cutMessage = (message: string, cause: FailureCause | undefined): string =>
  cause === undefined
    ? cutMiddle(message, visitMessageLength)
    : cutWithMark(message, visitMessageLength - cutMark.length);

type Chosen = { readonly index: number; readonly rule: Transition };

function chooseRule(draft: Draft, state: State, outcome: VisitOutcome): Chosen | Failure {
  try {
    const choice = firstMatch(state.transitions, {
      kind: state.kind,
      failed: outcome.failure !== undefined,
      ...defined({
        exitCode: outcome.exitCode,
        score: outcome.score,
        confidence: outcome.confidence,
        consensus: outcome.consensus,
      }),
      ...(outcome.signal === undefined ? {} : { signal: outcome.signal.response }),
      scope: templateScope(draft),
      loaded: draft.facts.loaded,
      work: draft.work,
    });
    if (choice.kind === 'needs') throw lackingValues(draft, choice.refs);
    return choice.kind === 'rule' ? choice : noMatch(draft, outcome);
  } catch (error) {
    return failureOf(error);
  }
}

/** The reason of a failed state says more than that no rule took it up (requirements AMB-159). */
function noMatch(draft: Draft, { failure, cause }: VisitOutcome): Failure {
  const state = draft.status.state ?? '';
  if (failure === undefined) {
    return { reason: 'NoMatchingTransition', message: `no transition rule of state ${state} matched its outcome` };
  }
  if (cause === undefined) {
    return { reason: failure.reason, message: `state ${state}: ${failure.message}; no transition rule matched` };
  }
  draft.change({ kind: 'status', fields: { cause } });
  return { reason: failure.reason, message: `no transition rule of state ${state} matched: ${failure.message}` };
}

/** Follows a rule to its target, or ends the execution where that would be one transition too many. */
function take(draft: Draft, rule: Transition): void {
  const transitions = (draft.status.transitions ?? 0) + 1;
  const most = draft.spec.max_total_transitions ?? limits.transitionsDefault;
  if (transitions > most) {
    const message = `transition ${transitions} to ${rule.target} is one too many; max_total_transitions is ${most}`;
    return finish(draft, 'failed', { reason: 'MaxTransitionsExceeded', message });
  }
  try {
    draft.setFeedback(rule.feedback === undefined ? undefined : renderText(draft, rule.feedback));
  } catch (error) {
    return finish(draft, 'failed', failureOf(error));
  }
  draft.change({ kind: 'status', fields: { transitions } });
  enter(draft, rule.target);
}

/** Enters a state, or ends the execution where that would be one visit too many (requirements AMB-068). */
export function enter(draft: Draft, name: string): void {
  const { status } = draft;
  const state = ownMember(draft.spec.states, name);
  if (state === undefined) throw new TypeError(`state ${name} is not in a definition that was accepted`);
  const visit = (ownMember(status.visits, name) ?? 0) + 1;
  const most = state.max_state_visits ?? limits.stateVisitsDefault;
  if (visit > most) {
    const message = `state ${name} would be entered ${visit} times; max_state_visits is ${most}`;
    return finish(draft, 'failed', { reason: 'MaxStateVisitsExceeded', message });
  }
  draft.change({
    kind: 'entered',
    visit: { state: name, kind: state.kind, visit, entered_at: draft.time, ...extras(draft, state, visit) },
  });
}

function extras(draft: Draft, state: State, visit: number): Partial<CurrentVisit> {
  const deadline = deadlineOf(draft, state);
  const signals = visit === 1 ? 0 : (draft.facts.execution.spec.signals?.length ?? 0);
  return {
    ...(deadline === undefined ? {} : { deadline }),
    ...(state.kind === 'Human' && signals > 0 ? { signals_before: signals } : {}),
  };
}

/**
 * A timeout that the manifest sets counts from entry. The default counts from the start of the first container or child
 * (`starting.ts`), and a Human state without a timeout waits for ever (requirements AMB-007, AMB-190).
 */
function deadlineOf(draft: Draft, state: State): string | undefined {
  if (state.timeout === undefined) return undefined;
  return instantAfter(draft.now, parseDuration(state.timeout, { field: 'timeout' }));
}
