import { type Static, Type } from 'typebox';
import { limits } from '../limits.ts';
import { transitionRules } from '../rules/transition-rules.ts';
import { cel, oneOf } from './parts.ts';

/** spec 1 §2.6.9, in its order. An absent condition means `always`. */
export const conditionNames = [
  'always',
  'on_success',
  'on_failure',
  'exit_code_zero',
  'exit_code_non_zero',
  'exit_code',
  'score_above',
  'score_below',
  'score_between',
  'confidence_above',
  'consensus',
  'all_approved',
  'any_rejected',
  'input_equals',
  'input_equals_yes',
  'input_equals_no',
  'custom',
] as const;
export type ConditionName = (typeof conditionNames)[number];

/** One rule of a state; rules are tested from top to bottom and the first match wins (spec 1 §2.6.9). */
export const Transition = Type.Object(
  {
    condition: Type.Optional(oneOf(conditionNames, { description: 'When the rule matches. Absent: always.' })),
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
