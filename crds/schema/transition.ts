import { type Static, Type } from 'typebox';
import { type RuleConditionField, ruleConditionFields } from '../rule-conditions.ts';
import { limits } from '../limits.ts';
import { celList } from '../rules/cel-text.ts';
import { ruleConditions } from './rule-condition-names.ts';
import { cel, type CelRule, oneOf } from './parts.ts';

const requiredFields: readonly RuleConditionField[] = ['threshold', 'value', 'expression', 'min', 'max'];

const conditionsThatNeed = (field: RuleConditionField): string[] =>
  Object.entries(ruleConditionFields).flatMap(([condition, fields]) => (fields.includes(field) ? [condition] : []));

/** Rules of one transition: the fields that its condition cannot do without (AMB-063). */
const transitionRules: CelRule[] = [
  ...requiredFields.map(
    (field): CelRule => ({
      rule: `!has(self.condition) || !(self.condition in ${celList(conditionsThatNeed(field))}) || has(self.${field})`,
      message: `the condition needs ${field}`,
      messageExpression: `'the condition ' + self.condition + ' needs ${field}'`,
      fieldPath: `.${field}`,
      reason: 'FieldValueRequired',
    }),
  ),
  {
    rule: '!has(self.min) || !has(self.max) || self.min <= self.max',
    message: 'min is greater than max',
    fieldPath: '.min',
  },
];

/** One rule of a state; rules are tested from top to bottom and the first match wins (spec 1 §2.6.9). */
export const Transition = Type.Object(
  {
    condition: Type.Optional(oneOf(ruleConditions, { description: 'When the rule matches. Absent: always.' })),
    target: Type.String({
      minLength: 1,
      maxLength: limits.nameLength,
      description: 'The next state, a key of spec.states.',
    }),
    feedback: Type.Optional(
      Type.String({
        maxLength: limits.templateLength,
        description: 'Template; the next state reads it as {{state.feedback}}.',
      }),
    ),
    threshold: Type.Optional(
      Type.Number({ minimum: 0, maximum: 1, description: 'Bound of a score, confidence or consensus.' }),
    ),
    agreement: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: 'Least confidence of a consensus.' })),
    value: Type.Optional(Type.String({ maxLength: 4_096, description: 'Exact value for exit_code and input_equals.' })),
    expression: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 4_096,
        description:
          'Boolean expression for the condition custom; {{…}} holds a path or helper, in quotes any template.',
      }),
    ),
    min: Type.Optional(Type.Number({ description: 'Lower bound of score_between, inclusive.' })),
    max: Type.Optional(Type.Number({ description: 'Upper bound of score_between, inclusive.' })),
  },
  { additionalProperties: false, ...cel(...transitionRules) },
);
export type Transition = Static<typeof Transition>;
