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
    state.kind === 'Human' ? [...checkDefault(at, state), ...checkVerbs(at, state)] : [],
  );
}

type At = NamedState['at'];

function checkDefault(at: At, { default_response: response, transitions }: StateOf<'Human'>): Problem[] {
  if (response === undefined || judge(transitions, response) !== 'never') return [];
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
