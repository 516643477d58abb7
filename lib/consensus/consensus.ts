import { limits } from '../../crds/limits.ts';
import type { Consensus } from '../../crds/schema/consensus.ts';

type Strategy = Consensus['strategy'];

/** A judge that completed. */
export interface JudgeVerdict {
  /** 0 to 1. */
  readonly score: number;
  /** 0 to 1; absent: the judge did not say, and counts as certain. */
  readonly confidence?: number | undefined;
}

/** One judge in manifest order. */
export interface Ballot {
  readonly weight: number;
  /** Absent: the judge failed, took too long, or gave no verdict (requirements AMB-083). */
  readonly verdict?: JudgeVerdict | undefined;
}

/** Result of a strategy for the ballots. */
export interface ConsensusResult {
  readonly score: number;
  readonly confidence: number;
  readonly strategy: Strategy;
  /** How the two numbers came about (docs/consensus.md). */
  readonly metadata: Readonly<Record<string, number | boolean | readonly number[]>>;
}

/** A ballot with a verdict, and its place in the manifest. */
interface Vote {
  readonly index: number;
  readonly weight: number;
  readonly score: number;
  readonly confidence: number;
}

type Outcome = Pick<ConsensusResult, 'score' | 'confidence' | 'metadata'>;

interface Panel {
  readonly rule: Consensus;
  readonly threshold: number;
  readonly votes: readonly Vote[];
  /** How many judges there are, completed or not. */
  readonly judges: number;
}

const strategies: { readonly [S in Strategy]: (panel: Panel) => Outcome | undefined } = {
  weighted_average: ({ rule, votes }) => average(rule, counting(votes)),
  majority,
  unanimous,
  best_of_n: bestOfN,
};

/** The state's threshold, its default filled in. */
export const thresholdOf = ({ threshold }: Consensus): number => threshold ?? limits.consensusThresholdDefault;

/** The least confidence of a consensus; undefined where the state names none (WF-PAR-10). */
export const agreementOf = ({ min_agreement_confidence: own, agreement }: Consensus): number | undefined =>
  own ?? agreement;

/** A value and how much it counts. */
interface Weighted {
  readonly value: number;
  readonly weight: number;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** The weights must not all be 0. */
const weightedMean = (items: readonly Weighted[]): number =>
  sum(items.map(({ value, weight }) => value * weight)) / sum(items.map(({ weight }) => weight));

/** The population standard deviation σ, weighted. */
function deviation(items: readonly Weighted[]): number {
  const mean = weightedMean(items);
  return Math.sqrt(weightedMean(items.map(({ value, weight }) => ({ value: (value - mean) ** 2, weight }))));
}

/** Places after the point that a result keeps. */
const places = 12;

/**
 * A number between 0 and 1 without the last digits of binary fractions. Three judges who all say 0.7 have the mean 0.7,
 * and a threshold of 0.7 is reached.
 */
function fraction(value: number): number {
  const rounded = Math.round(value * 10 ** places) / 10 ** places;
  return Math.min(1, Math.max(0, rounded));
}

/**
 * The consensus of judges (spec 1 §2.6, requirements AMB-082). Undefined where nothing can be weighed: no judge completed,
 * or all judges that the strategy weighs have the weight 0.
 */
export function consensusOf(rule: Consensus, ballots: readonly Ballot[]): ConsensusResult | undefined {
  const votes = relative(ballots.flatMap(toVote));
  const threshold = thresholdOf(rule);
  if (votes.length === 0) return undefined;
  const outcome = strategies[rule.strategy]({ rule, threshold, votes, judges: ballots.length });
  if (outcome === undefined) return undefined;
  const { score, confidence, metadata } = outcome;
  const approved = votes.filter((vote) => vote.score >= threshold).length;
  const counts = { judges: ballots.length, completed: votes.length, approved, threshold };
  return {
    score: fraction(score),
    confidence: fraction(confidence),
    strategy: rule.strategy,
    metadata: { ...counts, ...metadata },
  };
}

function toVote({ weight, verdict }: Ballot, index: number): Vote[] {
  return verdict === undefined ? [] : [{ index, weight, score: verdict.score, confidence: verdict.confidence ?? 1 }];
}

/** Only the ratio of weights counts; sums of very large ones would be infinite. */
function relative(votes: readonly Vote[]): readonly Vote[] {
  const largest = Math.max(...votes.map(({ weight }) => weight));
  return largest > 0 ? votes.map((vote) => ({ ...vote, weight: vote.weight / largest })) : votes;
}

const counting = (votes: readonly Vote[]): readonly Vote[] => votes.filter(({ weight }) => weight > 0);

const scores = (votes: readonly Vote[]): Weighted[] => votes.map(({ score: value, weight }) => ({ value, weight }));

const confidences = (votes: readonly Vote[]): Weighted[] =>
  votes.map(({ confidence: value, weight }) => ({ value, weight }));

/** score = weighted mean; confidence = a·(1 − min(1, 2σ)) + s·(weighted mean of the judges' own confidence). */
function average({ confidence_weighting: weighting }: Consensus, votes: readonly Vote[]): Outcome | undefined {
  if (votes.length === 0) return undefined;
  const sigma = deviation(scores(votes));
  const agreement = 1 - Math.min(1, 2 * sigma);
  const self = weightedMean(confidences(votes));
  const a = weighting?.agreement_factor ?? limits.agreementFactorDefault;
  const s = weighting?.self_confidence_factor ?? limits.selfConfidenceFactorDefault;
  return {
    score: weightedMean(scores(votes)),
    confidence: a * agreement + s * self,
    metadata: {
      standard_deviation: fraction(sigma),
      agreement: fraction(agreement),
      self_confidence: fraction(self),
    },
  };
}

/** score = share of the weight that passes; confidence = |share that passes − share that fails|. */
function majority({ votes, threshold }: Panel): Outcome | undefined {
  const total = sum(votes.map(({ weight }) => weight));
  if (total === 0) return undefined;
  const pass = sum(votes.filter(({ score }) => score >= threshold).map(({ weight }) => weight)) / total;
  const metadata = { pass_share: fraction(pass), fail_share: fraction(1 - pass), passed: pass > 1 / 2 };
  return { score: pass, confidence: Math.abs(2 * pass - 1), metadata };
}

/**
 * score = lowest score, confidence = lowest confidence. A judge that did not complete has not approved (requirements
 * AMB-183), so that the lowest score is 0.
 */
function unanimous({ votes, threshold, judges }: Panel): Outcome {
  const isComplete = votes.length === judges;
  const lowest = Math.min(...votes.map(({ score }) => score));
  return {
    score: isComplete ? lowest : 0,
    confidence: Math.min(...votes.map(({ confidence }) => confidence)),
    metadata: { unanimous: isComplete && lowest >= threshold },
  };
}

/**
 * The n judges with the highest score × confidence, the earlier one first among equals, and their weighted average. The
 * weight has no part in the rank (WF-PAR-19): a judge of weight 0 takes a place and adds nothing.
 */
function bestOfN({ rule, votes }: Panel): Outcome | undefined {
  const rank = ({ score, confidence }: Vote): number => fraction(score * confidence);
  const ranked = votes.toSorted((one, other) => rank(other) - rank(one) || one.index - other.index);
  const best = ranked.slice(0, rule.n ?? ranked.length);
  const outcome = average(rule, counting(best));
  return outcome && { ...outcome, metadata: { ...outcome.metadata, selected: best.map(({ index }) => index) } };
}
