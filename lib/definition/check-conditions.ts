import { type RuleConditionField, ruleConditionFields, ruleConditionKinds } from '../../crds/rule-conditions.ts';
import { errorAt, type Place, type Problem, warningAt } from '../../crds/problem.ts';
import type { RuleCondition } from '../../crds/schema/rule-condition-names.ts';
import type { Transition } from '../../crds/schema/transition.ts';
import type { Definition } from './definition.ts';

/** Conditions fit the kind of their state (AMB-062) and have the fields that they need (AMB-063). */
export function checkConditions({ states }: Definition): readonly Problem[] {
  return states.flatMap(({ at, state }) =>
    state.transitions.flatMap((rule, index) => {
      const place = [...at, 'transitions', index];
      const condition = rule.condition ?? 'always';
      return [
        ...checkKind(place, condition, state.kind),
        ...missing(place, condition, rule),
        ...idle(place, condition, rule),
        ...checkNumbers(place, rule),
      ];
    }),
  );
}

function checkKind(
  at: Place,
  condition: RuleCondition,
  kind: (typeof ruleConditionKinds)['always'][number],
): Problem[] {
  const fitting = ruleConditionKinds[condition];
  if (fitting.includes(kind)) return [];
  const message = `the condition ${condition} does not apply to kind ${kind}; it is for ${fitting.join(', ')}`;
  return [errorAt([...at, 'condition'], 'condition_kind', message)];
}

const missing = (at: Place, condition: RuleCondition, rule: Transition): Problem[] =>
  ruleConditionFields[condition]
    .filter((field) => rule[field] === undefined)
    .map((field) => errorAt([...at, field], 'required', `the condition ${condition} needs ${field}`));

/** Fields that a condition reads when they are given, beside those that it needs (AMB-064). */
const optionalFields: Partial<Readonly<Record<RuleCondition, readonly RuleConditionField[]>>> = {
  consensus: ['threshold', 'agreement'],
};
const allFields: readonly RuleConditionField[] = ['threshold', 'agreement', 'value', 'expression', 'min', 'max'];

function idle(at: Place, condition: RuleCondition, rule: Transition): Problem[] {
  const read = [...ruleConditionFields[condition], ...(optionalFields[condition] ?? [])];
  return allFields
    .filter((field) => rule[field] !== undefined && !read.includes(field))
    .map((field) => warningAt([...at, field], 'no_effect', `has no effect on the condition ${condition}`));
}

function checkNumbers(at: Place, { condition, min, max, value }: Transition): Problem[] {
  return [
    ...(min !== undefined && max !== undefined && min > max
      ? [errorAt([...at, 'min'], 'min_above_max', `min ${min} is greater than max ${max}`)]
      : []),
    ...(condition === 'exit_code' && value !== undefined && !isExitCode(value)
      ? [warningAt([...at, 'value'], 'never_matches', `'${value}' is never an exit code; write a number such as "2"`)]
      : []),
  ];
}

/** Linux has 0 to 255; -1 is that of a command that never ran (requirements AMB-160). */
const isExitCode = (text: string): boolean => /^(-1|0|[1-9][0-9]{0,2})$/.test(text) && Number(text) <= 255;
