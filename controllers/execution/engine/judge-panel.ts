import { limits } from '../../../crds/limits.ts';
import type { Judge } from '../../../crds/schema/consensus.ts';
import type { StateOf } from '../../../crds/schema/state.ts';
import { agreementOf, type ConsensusResult, consensusOf, thresholdOf } from '../../../lib/consensus/consensus.ts';
import { readVerdict, type ReadVerdict } from '../../../lib/consensus/verdict.ts';
import { defined } from '../../../lib/defined.ts';
import type { ConsensusOutcome } from './first-match.ts';
import { type Draft, LackingFacts } from './draft.ts';
import type { AgentFact, Failure } from './facts.ts';
import type { VisitOutcome } from './state-handler.ts';

/** How one judge ended. */
export interface JudgeEnd {
  readonly agent: AgentFact | undefined;
  /** Why it did not complete; absent: it ended, and what it said has yet to be read. */
  readonly problem?: string;
}

/** A judge after its answer was read. */
interface Row {
  readonly judge: Judge;
  readonly agent: AgentFact | undefined;
  readonly verdict?: ReadVerdict;
  /** Why it did not complete (requirements AMB-083). */
  readonly problem?: string;
}

/**
 * The outcome of a ParallelAgents state of which all judges have ended. `stop`: why it ended before they had.
 * @throws LackingFacts for answers that are still to be read, all at once.
 */
export function panelOutcome(
  draft: Draft,
  state: StateOf<'ParallelAgents'>,
  ends: readonly JudgeEnd[],
  stop: Failure | undefined,
): VisitOutcome {
  const unread = ends.flatMap(({ agent, problem }) =>
    problem === undefined && agent !== undefined && agent.output === undefined ? [agent.uid] : [],
  );
  if (unread.length > 0) throw new LackingFacts(unread.map((uid) => ({ kind: 'agent', uid })));
  const rows = state.agents.map((judge, index) => rowOf(draft, judge, ends[index]));
  const result = consensusOf(
    state.consensus,
    rows.map(({ judge, verdict }) => ({ weight: weightOf(judge), verdict })),
  );
  const failure = stop ?? shortage(state, rows, result);
  if (failure !== undefined) return { entry: entryOf(state, rows, undefined), failure };
  return { entry: entryOf(state, rows, result), ...defined({ consensus: result && forRules(state, rows, result) }) };
}

const weightOf = ({ weight }: Judge): number => weight ?? limits.judgeWeightDefault;

function rowOf({ work }: Draft, judge: Judge, end: JudgeEnd | undefined): Row {
  const { agent, problem } = end ?? { agent: undefined };
  if (problem !== undefined) return { judge, agent, problem };
  const read = readVerdict(agent?.output ?? '', work);
  return 'problem' in read ? { judge, agent, problem: `malformed: ${read.problem}` } : { judge, agent, verdict: read };
}

function shortage(
  { consensus }: StateOf<'ParallelAgents'>,
  rows: readonly Row[],
  result: ConsensusResult | undefined,
): Failure | undefined {
  const completed = rows.filter(({ verdict }) => verdict !== undefined).length;
  const least = consensus.min_judges_required ?? limits.minJudgesDefault;
  if (completed >= least && result !== undefined) return undefined;
  const counts = `${completed} of ${rows.length} judges completed and min_judges_required is ${least}`;
  const why = rows.flatMap(({ judge, problem }, index) =>
    problem === undefined ? [] : [`judge ${index} (${judge.agent}): ${problem}`],
  );
  const weight = completed >= least ? [`every judge that ${consensus.strategy} weighs has weight 0`] : [];
  return { reason: 'TooFewJudges', message: [counts, ...weight, ...why].join('; ') };
}

/** Values for the rules (requirements AMB-064, AMB-183). */
const forRules = (
  { consensus }: StateOf<'ParallelAgents'>,
  rows: readonly Row[],
  { score, confidence }: ConsensusResult,
): ConsensusOutcome => ({
  score,
  confidence,
  scores: rows.map(({ verdict }) => verdict?.score),
  threshold: thresholdOf(consensus),
  ...defined({ agreement: agreementOf(consensus) }),
});

/** spec 1 §2.6, "Blackboard entry"; every list has each judge in manifest order. */
function entryOf(
  { consensus: { strategy } }: StateOf<'ParallelAgents'>,
  rows: readonly Row[],
  result: ConsensusResult | undefined,
): unknown {
  return {
    status: result === undefined ? 'failed' : 'success',
    consensus: result ?? { score: null, confidence: null, strategy, metadata: {} },
    individual_results: rows.map(individualResult),
    agents: rows.map((row) => ({ agent_id: idOf(row), output: outputOf(row), weight: weightOf(row.judge) })),
  };
}

function individualResult(row: Row): unknown {
  const { verdict, problem } = row;
  return {
    agent_id: idOf(row),
    score: verdict?.score ?? null,
    confidence: verdict?.confidence ?? null,
    reasoning: verdict?.reasoning ?? null,
    ...defined({ error: problem }),
  };
}

/** The uid of the agent; where none was found, what the manifest calls it. */
const idOf = ({ agent, judge }: Row): string => agent?.agentUid ?? judge.agent;

/** The JSON text of the verdict, so that templates read its fields (WF-TPL-16); of any other answer the text itself. */
const outputOf = ({ verdict, agent }: Row): string => verdict?.text ?? agent?.output ?? '';
