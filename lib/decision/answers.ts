import { limits } from '../../crds/limits.ts';
import type { Transition } from '../../crds/schema/transition.ts';

/** The part of a transition that a response is compared with. */
type AnswerRule = Pick<Transition, 'condition' | 'value'>;

const yes = new Set(['yes', 'approve', 'approved', 'true']);
const no = new Set(['no', 'reject', 'rejected', 'false']);

/** Case and blanks around a yes or no do not count (requirements AMB-065). */
const word = (response: string): string => response.trim().toLowerCase();

export const isYes = (response: string): boolean => yes.has(word(response));
export const isNo = (response: string): boolean => no.has(word(response));

/** Whether one rule of a Human state takes a response; `custom`: only its expression says so (requirements AMB-170). */
function takes({ condition = 'always', value }: AnswerRule, response: string): boolean | 'custom' {
  if (condition === 'custom') return 'custom';
  if (condition === 'input_equals') return value === response;
  if (condition === 'input_equals_yes') return isYes(response);
  if (condition === 'input_equals_no') return isNo(response);
  return condition === 'always';
}

/**
 * The verdict of a Human state's rules on a response without any evaluation: `matches`, `never`, or `depends` on a
 * `custom` expression. A terminal state takes every response.
 */
export function judge(rules: readonly AnswerRule[], response: string): 'matches' | 'depends' | 'never' {
  const verdicts = rules.map((rule) => takes(rule, response));
  if (rules.length === 0 || verdicts.includes(true)) return 'matches';
  return verdicts.includes('custom') ? 'depends' : 'never';
}

/** Responses of `approve` and `reject` (requirements AMB-035). */
export const approval = 'approved';
export const rejection = 'rejected';

/** The response of a rule; a rule that takes any has those of approval and rejection. */
const responsesOf: Partial<Readonly<Record<NonNullable<Transition['condition']>, readonly string[]>>> = {
  always: [approval, rejection],
  input_equals_yes: [approval],
  input_equals_no: [rejection],
};

/** Responses that the rules name and take, each once, in the order of the rules; what is too long for a hint is left out. */
export function namedAnswers(rules: readonly AnswerRule[]): string[] {
  const named = rules.flatMap(({ condition = 'always', value = '' }) =>
    condition === 'input_equals' ? [value] : (responsesOf[condition] ?? []),
  );
  const known = rules.length === 0 ? [approval, rejection] : named;
  const short = known.filter((answer) => answer !== '' && answer.length <= limits.answerLength);
  return [...new Set(short)].slice(0, limits.answersListed);
}

/** The named answers in a sentence. */
export function answersText(answers: readonly string[]): string {
  return answers.length === 0 ? 'see the rules of the state' : `it takes ${answers.join(', ')}`;
}
