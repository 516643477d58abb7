import type { StateKind } from '../../../crds/schema/state-kinds.ts';
import type { RuleCondition } from '../../../crds/schema/rule-condition-names.ts';
import type { Transition } from '../../../crds/schema/transition.ts';
import { isNo, isYes } from '../../../lib/decision/answers.ts';
import { evaluate } from '../../../lib/expression/evaluate.ts';
import type { LoadedValues, NeedsValues } from '../../../lib/template/large-value.ts';
import type { TemplateScope } from '../../../lib/template/scope.ts';
import type { Work } from '../../../lib/work/work.ts';

/** Consensus of the judges of a ParallelAgents state. */
export interface ConsensusOutcome {
  readonly score: number;
  readonly confidence: number;
  /** Score of every judge; undefined for one that did not complete (requirements AMB-183). */
  readonly scores: readonly (number | undefined)[];
  /** The state's `consensus.threshold`, its default filled in. */
  readonly threshold: number;
  /** The state's `consensus.min_agreement_confidence`; absent where it has none. */
  readonly agreement?: number;
}

/** Facts of a finished state when its rules are tested. */
export interface StateOutcome {
  readonly kind: StateKind;
  readonly failed: boolean;
  readonly exitCode?: number;
  readonly score?: number;
  readonly confidence?: number;
  readonly consensus?: ConsensusOutcome;
  /** Payload of the signal that ended a Human state. */
  readonly signal?: string;
  /** Scope of `custom` expressions; the finished state's entry is already on its Blackboard. */
  readonly scope: TemplateScope;
  /** Values of the output store, as far as they were loaded. */
  readonly loaded?: LoadedValues;
  /** Budget of this turn; a new one where absent. */
  readonly work?: Work;
}

/** Whether a rule matches, or what has to be loaded before that can be said. */
type Match = { readonly kind: 'match'; readonly matched: boolean } | NeedsValues;

/** The rule that wins, or that none matches, or what has to be loaded first. */
type RuleChoice<Rule> =
  | { readonly kind: 'rule'; readonly index: number; readonly rule: Rule }
  | { readonly kind: 'none' }
  | NeedsValues;

/** The part of a transition that decides whether it matches. */
export type Rule = Pick<Transition, 'condition' | 'threshold' | 'agreement' | 'value' | 'expression' | 'min' | 'max'>;

type Test = (rule: Rule, outcome: StateOutcome) => boolean;

/** The conditions of spec 1 §2.6.9 but `custom`. A number that is missing on either side makes a condition false. */
const tests: Readonly<Record<Exclude<RuleCondition, 'custom'>, Test>> = {
  always: () => true,
  on_success: (_rule, { failed }) => !failed,
  on_failure: (_rule, { failed }) => failed,
  exit_code_zero: (_rule, { exitCode }) => exitCode === 0,
  exit_code_non_zero: (_rule, { exitCode }) => exitCode !== undefined && exitCode !== 0,
  exit_code: ({ value }, { exitCode }) => exitCode !== undefined && value === String(exitCode),
  score_above: ({ threshold }, { score }) => number(score) > number(threshold),
  score_below: ({ threshold }, { score }) => number(score) < number(threshold),
  score_between: ({ min, max }, { score }) => number(score) >= number(min) && number(score) <= number(max),
  confidence_above: ({ threshold }, { confidence }) => number(confidence) > number(threshold),
  consensus: agreed,
  all_approved: (_rule, { consensus }) => allApproved(consensus),
  any_rejected: (_rule, { consensus }) =>
    consensus !== undefined && consensus.scores.some((score) => number(score) < consensus.threshold),
  input_equals: ({ value }, { signal }) => signal !== undefined && signal === value,
  input_equals_yes: (_rule, { signal }) => isYes(signal ?? ''),
  input_equals_no: (_rule, { signal }) => isNo(signal ?? ''),
};

/**
 * Whether one rule matches the outcome of its state (spec 1 §2.6.9).
 * @throws ExpressionError, WorkBudgetExceeded or NestedTooDeep for a `custom` expression that is not valid, works too long
 * or reads what is nested too deep.
 */
export function matches(rule: Rule, outcome: StateOutcome): Match {
  const condition = rule.condition ?? 'always';
  if (condition !== 'custom') return { kind: 'match', matched: tests[condition](rule, outcome) };
  const result = evaluate(rule.expression ?? '', outcome.scope, outcome.loaded, outcome.work);
  return result.kind === 'needs' ? result : { kind: 'match', matched: result.value };
}

/** The first rule that matches; later ones are not looked at (WF-COND-26). */
export function firstMatch<R extends Rule>(rules: readonly R[], outcome: StateOutcome): RuleChoice<R> {
  for (const [index, rule] of rules.entries()) {
    const match = matches(rule, outcome);
    if (match.kind === 'needs') return match;
    if (match.matched) return { kind: 'rule', index, rule };
  }
  return { kind: 'none' };
}

/** A rule without its own numbers takes those of the state (requirements AMB-064). */
function agreed(rule: Rule, { consensus }: StateOutcome): boolean {
  if (consensus === undefined) return false;
  const threshold = rule.threshold ?? consensus.threshold;
  const agreement = rule.agreement ?? consensus.agreement ?? 0;
  return consensus.score >= threshold && consensus.confidence >= agreement;
}

/** No judge at all has approved nothing, and one that did not complete has not approved. */
function allApproved(consensus: ConsensusOutcome | undefined): boolean {
  if (consensus === undefined || consensus.scores.length === 0) return false;
  return consensus.scores.every((score) => number(score) >= consensus.threshold);
}

/** NaN compares false with everything (requirements AMB-066). */
function number(value: number | undefined): number {
  return value ?? Number.NaN;
}
