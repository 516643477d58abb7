import { type Place, type Problem, warningAt } from '../../crds/problem.ts';
import type { State } from '../../crds/schema/state.ts';
import type { RuleCondition } from '../../crds/schema/rule-condition-names.ts';
import type { Transition } from '../../crds/schema/transition.ts';
import { isNo, isYes } from '../decision/answers.ts';
import type { DefinitionCheck } from './definition.ts';

/** Rules that no outcome of their state can reach: their own bounds, or the rules above them, leave none (AMB-193). */
export const checkShadowed: DefinitionCheck = ({ states }) =>
  states.flatMap(({ at, state }) => shadowedRules(at, state));

function shadowedRules(at: Place, { transitions }: State): Problem[] {
  return transitions.flatMap((rule, index) => {
    const place = [...at, 'transitions', index];
    const own = impossible(rule);
    if (own !== undefined) return [warningAt(place, 'never_matches', own)];
    const above = transitions.findIndex((earlier, position) => position < index && covers(earlier, rule));
    if (above === -1) return coveredTogether(transitions.slice(0, index), place);
    return [warningAt(place, 'never_matches', `never matches, because transitions[${above}] takes all that it would`)];
  });
}

const nameOf = ({ condition = 'always' }: Transition): RuleCondition => condition;

/** Scores and confidences lie between 0 and 1 (spec 1 §2.6.9). */
function impossible(rule: Transition): string | undefined {
  return bounds[nameOf(rule)]?.(rule);
}

type Bound = (rule: Transition) => string | undefined;

const nothingAbove: Bound = ({ threshold }) => (threshold === 1 ? 'nothing is above 1' : undefined);

const bounds: Partial<Readonly<Record<RuleCondition, Bound>>> = {
  score_above: nothingAbove,
  confidence_above: nothingAbove,
  score_below: ({ threshold }) => (threshold === 0 ? 'nothing is below 0' : undefined),
  score_between: ({ min = 0, max = 1 }) => (min > 1 || max < 0 ? 'a score lies between 0 and 1' : undefined),
};

type Covers = (above: Transition, below: Transition) => boolean;

const isExitCode: Covers = (_above, { condition, value }) => condition === 'exit_code' && value !== '0';

/** Conditions that a condition shadows beside its own equal. */
const wider: Partial<Readonly<Record<RuleCondition, Covers>>> = {
  on_success: (_above, below) => nameOf(below) === 'exit_code_zero' || isZero(below),
  on_failure: (above, below) => nameOf(below) === 'exit_code_non_zero' || isExitCode(above, below),
  exit_code_zero: (_above, below) => isZero(below),
  exit_code_non_zero: isExitCode,
  input_equals_yes: (_above, { condition, value = '' }) => condition === 'input_equals' && isYes(value),
  input_equals_no: (_above, { condition, value = '' }) => condition === 'input_equals' && isNo(value),
  score_above: ({ threshold = 0 }, below) => nameOf(below) === 'score_above' && (below.threshold ?? 0) >= threshold,
  score_below: ({ threshold = 0 }, below) => nameOf(below) === 'score_below' && (below.threshold ?? 0) <= threshold,
};

const isZero = ({ condition, value }: Transition): boolean => condition === 'exit_code' && value === '0';

/** The check of the order reports rules behind one that always matches. */
const covers: Covers = (above, below) => {
  if (nameOf(above) === 'always') return false;
  return isSame(above, below) || wider[nameOf(above)]?.(above, below) === true;
};

const compared = ['threshold', 'agreement', 'value', 'expression', 'min', 'max'] as const;
const isSame: Covers = (above, below) =>
  nameOf(above) === nameOf(below) && compared.every((field) => above[field] === below[field]);

/** Success and failure together are every outcome. */
function coveredTogether(above: readonly Transition[], at: Place): Problem[] {
  const names = new Set(above.map(nameOf));
  if (!names.has('on_success') || !names.has('on_failure')) return [];
  return [warningAt(at, 'never_matches', 'never matches, because on_success and on_failure above take every outcome')];
}
