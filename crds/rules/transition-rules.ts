import { type ConditionField, conditionFields } from '../condition-kinds.ts';
import type { CelRule } from '../schema/parts.ts';
import { celList } from './cel-text.ts';

const requiredFields: readonly ConditionField[] = ['threshold', 'value', 'expression', 'min', 'max'];

const conditionsThatNeed = (field: ConditionField): string[] =>
  Object.entries(conditionFields).flatMap(([condition, fields]) => (fields.includes(field) ? [condition] : []));

/** Rules of one transition: the fields that its condition cannot do without (AMB-063). */
export const transitionRules: CelRule[] = [
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
