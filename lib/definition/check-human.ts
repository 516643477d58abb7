import { errorAt, type Problem, warningAt } from '../../crds/problem.ts';
import type { StateOf } from '../../crds/schema/state.ts';
import { answersText, approval, judge, namedAnswers, rejection } from '../decision/answers.ts';
import type { Definition, NamedState } from './definition.ts';

/**
 * A gate can be left: its `default_response` matches a rule, or it could never apply; and it is said where `approve` or
 * `reject` would be refused (requirements AMB-170).
 */
export function checkHuman({ states }: Definition): readonly Problem[] {
  return states.flatMap(({ at, state }) =>
    state.kind === 'Human' ? [...checkDefault(at, state), ...checkVerbs(at, state), ...checkFeedback(at, state)] : [],
  );
}

type At = NamedState['at'];

function checkDefault(at: At, { default_response: response, timeout, transitions }: StateOf<'Human'>): Problem[] {
  if (response !== undefined && timeout === undefined) {
    const message = 'never applies, because a gate without a timeout waits for ever; set timeout';
    return [warningAt([...at, 'default_response'], 'no_effect', message), ...unmatched(at, response, transitions)];
  }
  return response === undefined ? [] : unmatched(at, response, transitions);
}

function unmatched(at: At, response: string, transitions: StateOf<'Human'>['transitions']): Problem[] {
  if (judge(transitions, response) !== 'never') return [];
  const message = `'${response}' matches no rule of this state; ${answersText(namedAnswers(transitions))}`;
  return [errorAt([...at, 'default_response'], 'unmatched_response', message)];
}

function checkVerbs(at: At, { transitions }: StateOf<'Human'>): Problem[] {
  const refused = [approval, rejection].filter((response) => judge(transitions, response) === 'never');
  if (refused.length === 0) return [];
  const verbs = refused.map((response) => (response === approval ? 'approve' : 'reject')).join(' and ');
  const message = `no rule matches ${refused.join(' or ')}, so ${verbs} will be refused here; ${answersText(namedAnswers(transitions))}`;
  return [warningAt([...at, 'transitions'], 'unmatched_response', message)];
}

/** A note or reason replaces the response there, so that a rejection may read like a yes (AMB-035). */
function checkFeedback(at: At, { transitions }: StateOf<'Human'>): Problem[] {
  const message =
    'human.feedback is the note or the reason of an answer that has one, so a rejection for the reason that this ' +
    'expression wants is taken; compare the response of the state, such as my_state.response';
  return transitions.flatMap(({ condition, expression = '' }, index) =>
    condition === 'custom' && readsFeedback.test(expression)
      ? [warningAt([...at, 'transitions', index, 'expression'], 'feedback_decides', message)]
      : [],
  );
}

const readsFeedback = /\bhuman\.feedback\b/;
