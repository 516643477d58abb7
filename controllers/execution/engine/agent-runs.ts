import type { Draft } from './draft.ts';
import type { AgentFact, Failure, Made, Waiting } from './facts.ts';
import type { CurrentVisit } from './reduce.ts';
import { childNeverStarted, notMadeCause } from './starting.ts';
import { restOn } from './rest-on.ts';

/** One agent that a visit started or is to start. */
export interface AgentRun {
  readonly name: string;
  /** Known once the visit has seen it. */
  readonly uid?: string | undefined;
  /** Its place in a ParallelAgents state. */
  readonly judge?: number | undefined;
}

/** The AgentExecution of a visit, or of one of its judges. */
export function findAgent(
  { facts }: Draft,
  { state, visit }: CurrentVisit,
  { judge }: AgentRun,
): AgentFact | undefined {
  return facts.agents?.find(({ madeBy }) => madeBy.state === state && madeBy.visit === visit && madeBy.judge === judge);
}

/** The uid of one that was made, whether or not it shows. */
export const madeUid = ({ facts }: Draft, { name, uid }: AgentRun): string | undefined => uid ?? facts.made?.get(name);

/** Why an agent that ended without success did. */
export function agentFailure({ name, phase, why }: AgentFact): Failure | undefined {
  if (phase === 'completed') return undefined;
  const words = why === undefined ? phase : `${phase}: ${why.reason}: ${why.message}`;
  return { reason: 'AgentFailed', message: `agent execution ${name} ${words}` };
}

export const agentOf = ({ state, visit }: CurrentVisit, { name, judge }: AgentRun) =>
  ({ of: 'agent', name, by: { state, visit, judge } }) as const satisfies Made;

/** A verdict rests on what a cache says of this agent. */
export const restOnAgent = (draft: Draft, current: CurrentVisit, run: AgentRun): void =>
  restOn(draft, agentOf(current, run));

/** One that a visit has seen and that is gone was deleted; another one would do the work twice. */
export function goneFailure(draft: Draft, current: CurrentVisit, run: AgentRun): Failure {
  restOnAgent(draft, current, run);
  return {
    reason: 'AgentFailed',
    message: `agent execution ${run.name} was deleted before its result was read`,
  };
}

/** An agent that has not started may wait as long as a container may (requirements AMB-190). */
export const agentNeverStarted = (draft: Draft, current: CurrentVisit, run: AgentRun, agent?: AgentFact) =>
  childNeverStarted(
    draft,
    current,
    agentOf(current, run),
    agent === undefined ? notMadeCause(draft) : agentWords(agent),
  );

export const agentWords = ({ name, phase, why }: AgentFact): string =>
  `agent execution ${name} says ${why === undefined ? phase : `${why.reason}: ${why.message}`}`;

/** The API server will never take an agent as it is. The name shows that this visit has tried. */
export function agentRefusal(
  { facts: { blocked } }: Draft,
  names: readonly (string | undefined)[],
): Failure | undefined {
  const name = blocked?.child;
  if (blocked === undefined || name === undefined || !names.includes(name)) return undefined;
  return { reason: 'Refused', message: `agent execution ${name} was refused: ${blocked.message}` };
}

/** How long an agent may take to start before the state says that it waits, in milliseconds. */
const showsAfterMs = 10_000;

/** The status of an agent that has not started. */
export function agentWaiting(
  draft: Draft,
  { entered_at: since }: CurrentVisit,
  agent?: AgentFact,
): Waiting | undefined {
  if (agent === undefined) {
    const { blocked } = draft.facts;
    return blocked && { reason: blocked.reason, message: blocked.message, since: 0 };
  }
  if (agent.phase !== 'pending') return undefined;
  return { reason: 'WaitingForAgent', message: agentWords(agent), since: Date.parse(since) + showsAfterMs };
}
