import { limits } from '../../../crds/limits.ts';
import type { Judge } from '../../../crds/schema/consensus.ts';
import type { StateOf } from '../../../crds/schema/state.ts';
import { isTerminal } from '../../../lib/execution/finished.ts';
import {
  type AgentRun,
  agentFailure,
  agentNeverStarted,
  findAgent,
  goneFailure,
  madeUid,
  restOnAgent,
  agentRefusal,
  agentWaiting,
} from '../engine/agent-runs.ts';
import { type AgentPlan, judgePlan } from '../engine/agent-spec.ts';
import { stopping, timeoutFailure } from '../engine/deadline.ts';
import type { Draft } from '../engine/draft.ts';
import type { AgentFact, Failure } from '../engine/facts.ts';
import { failureOf } from '../engine/failure-of.ts';
import { type JudgeEnd, panelOutcome } from '../engine/judge-panel.ts';
import { agentName } from '../engine/names.ts';
import { type CurrentVisit, patched, type VisitChange } from '../engine/reduce.ts';
import { noteStart, showWaiting } from '../engine/starting.ts';
import type { StateHandler } from '../engine/state-handler.ts';

/** One judge of the visit, and what is known of its execution. */
interface Seat {
  readonly index: number;
  readonly judge: Judge;
  readonly name: string;
  /** Known once it was made. */
  readonly uid: string | undefined;
  readonly agent: AgentFact | undefined;
}

/** Asks all judges at once and weighs what they say (spec 1 §2.6, kind ParallelAgents). */
export const parallelAgents: StateHandler<'ParallelAgents'> = (draft, state, current) => {
  const seats = state.agents.map((judge, index) => seatOf(draft, current, judge, index));
  const refusal = agentRefusal(draft, current.judges?.map(({ name }) => name) ?? []);
  const judges = seats.map(({ name, uid }) => (uid === undefined ? { name } : { name, uid }));
  const change = { judges, ...noteStart(draft, current, firstStart(seats)) };
  const visit = patched(current, change);
  // The time is over for those that have not ended; a panel that has counts, however late that is seen.
  const isLate = stopping(draft, visit) && !seats.every(hasEnded);
  const stop = refusal ?? (isLate ? timeoutFailure(visit) : undefined);
  const ends = seats.map((seat) =>
    stop === undefined ? endOf(draft, state, visit, seat) : endAt(draft, visit, seat, stop),
  );
  if (ends.every((end) => end !== undefined)) return { outcome: panelOutcome(draft, state, ends, stop) };
  return { change: { ...change, ...awaitOthers(draft, visit, seats) } };
};

function seatOf(draft: Draft, current: CurrentVisit, judge: Judge, index: number): Seat {
  // As it was written down: another version of the engine may make other names.
  const known = current.judges?.[index];
  const name = known?.name ?? agentName(draft.facts.execution, { ...current, judge: index });
  const agent = findAgent(draft, current, { name, judge: index });
  const uid = agent?.uid ?? madeUid(draft, { name, uid: known?.uid });
  return { index, judge, name: agent?.name ?? name, uid, agent };
}

const hasEnded = ({ agent }: Seat): boolean => agent !== undefined && isTerminal(agent);

function firstStart(seats: readonly Seat[]): number | undefined {
  const starts = seats.flatMap(({ agent }) => agent?.startedAt ?? []);
  return starts.length === 0 ? undefined : Math.min(...starts);
}

/** How one judge has ended; undefined while it continues. One that is to be started is started here. */
function endOf(
  draft: Draft,
  state: StateOf<'ParallelAgents'>,
  current: CurrentVisit,
  seat: Seat,
): JudgeEnd | undefined {
  const { agent, uid } = seat;
  if (agent === undefined) {
    return uid === undefined
      ? start(draft, state, current, seat)
      : missed(seat, goneFailure(draft, current, runOf(seat)));
  }
  if (isTerminal(agent)) return endedInTime(seat, agent);
  if (agent.startedAt === undefined) {
    const late = agentNeverStarted(draft, current, runOf(seat), agent);
    return late && missed(seat, late);
  }
  const due = dueOf(seat, agent.startedAt);
  if (draft.now >= due) {
    restOnAgent(draft, current, runOf(seat));
    return { agent, problem: lateness(seat) };
  }
  draft.wakeAt(due);
  return undefined;
}

/** For a state that is over by its timeout or a refusal: judges that ended keep their verdicts. */
function endAt(draft: Draft, current: CurrentVisit, seat: Seat, failure: Failure): JudgeEnd {
  if (seat.agent !== undefined && isTerminal(seat.agent)) return endedInTime(seat, seat.agent);
  restOnAgent(draft, current, runOf(seat));
  return missed(seat, failure);
}

const runOf = ({ name, index }: Seat): AgentRun => ({ name, judge: index });

function start(
  draft: Draft,
  state: StateOf<'ParallelAgents'>,
  current: CurrentVisit,
  seat: Seat,
): JudgeEnd | undefined {
  const plan = planOf(draft, state, current, seat);
  if ('failure' in plan) return missed(seat, plan.failure);
  const late = agentNeverStarted(draft, current, runOf(seat));
  if (late !== undefined) return missed(seat, late);
  draft.act({ kind: 'create_agent', name: seat.name, spec: plan.spec });
  return undefined;
}

/** A template that cannot be rendered costs its judge alone; `min_judges_required` decides about the state. */
function planOf(draft: Draft, state: StateOf<'ParallelAgents'>, current: CurrentVisit, { index }: Seat): AgentPlan {
  try {
    return judgePlan(draft, state, current, index);
  } catch (error) {
    return { failure: failureOf(error) };
  }
}

const secondsOf = ({ judge }: Seat): number => judge.timeout_seconds ?? limits.judgeTimeoutSecondsDefault;

/** WF-PAR-06: the time of a judge counts from its start. */
const dueOf = (seat: Seat, startedAt: number): number => startedAt + secondsOf(seat) * 1_000;

const lateness = (seat: Seat): string =>
  `agent execution ${seat.name} took longer than its timeout_seconds, ${secondsOf(seat)}`;

/** One that ended by itself before its time was over counts, however late that is seen. */
function endedInTime(seat: Seat, agent: AgentFact): JudgeEnd {
  const { startedAt, endedAt } = agent;
  const isLate = startedAt !== undefined && endedAt !== undefined && endedAt > dueOf(seat, startedAt);
  if (isLate) return { agent, problem: lateness(seat) };
  const failure = agentFailure(agent);
  return failure === undefined ? { agent } : missed(seat, failure);
}

const missed = ({ agent }: Seat, { reason, message }: Failure): JudgeEnd => ({
  agent,
  problem: `${reason}: ${message}`,
});

/** Judges past their time are cancelled while the others continue; those that are left are cancelled with the state. */
function awaitOthers(draft: Draft, current: CurrentVisit, seats: readonly Seat[]): VisitChange {
  for (const seat of seats) cancelLate(draft, seat);
  const waiting = seats.filter(({ agent }) => agent?.startedAt === undefined);
  return showWaiting(
    draft,
    current,
    waiting.map(({ agent }) => agentWaiting(draft, current, agent)),
  );
}

function cancelLate(draft: Draft, seat: Seat): void {
  const { agent } = seat;
  if (agent?.startedAt === undefined || agent.cancelled || isTerminal(agent)) return;
  if (draft.now < dueOf(seat, agent.startedAt)) return;
  draft.act({ kind: 'cancel_agent', name: agent.name, uid: agent.uid, reason: lateness(seat) });
}
