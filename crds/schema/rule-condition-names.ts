/** spec 1 §2.6.9, in its order. An absent condition means `always`. */
export const ruleConditions = [
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
export type RuleCondition = (typeof ruleConditions)[number];
