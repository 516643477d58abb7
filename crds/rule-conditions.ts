import type { RuleCondition } from './schema/rule-condition-names.ts';
import { type StateKind, stateKinds } from './schema/state-kinds.ts';

const withOutcome = ['Agent', 'System', 'ContainerRun', 'ParallelContainerRun', 'Subworkflow'] as const;
const withExitCode = ['System', 'ContainerRun'] as const;

/** State kinds that a condition may be used on (spec 1 §2.6.9, "Applies to"; elsewhere it is refused, AMB-062). */
export const ruleConditionKinds: Readonly<Record<RuleCondition, readonly StateKind[]>> = {
  always: stateKinds,
  on_success: withOutcome,
  on_failure: withOutcome,
  exit_code_zero: withExitCode,
  exit_code_non_zero: withExitCode,
  exit_code: withExitCode,
  score_above: ['Agent'],
  score_below: ['Agent'],
  score_between: ['Agent'],
  confidence_above: ['Agent'],
  consensus: ['ParallelAgents'],
  all_approved: ['ParallelAgents'],
  any_rejected: ['ParallelAgents'],
  input_equals: ['Human'],
  input_equals_yes: ['Human'],
  input_equals_no: ['Human'],
  custom: stateKinds,
};

/** A field of a rule that only some conditions read. */
export type RuleConditionField = 'threshold' | 'agreement' | 'value' | 'expression' | 'min' | 'max';

/** Fields that a condition cannot do without (AMB-063). `consensus` falls back to the state's own numbers (AMB-064). */
export const ruleConditionFields: Readonly<Record<RuleCondition, readonly RuleConditionField[]>> = {
  always: [],
  on_success: [],
  on_failure: [],
  exit_code_zero: [],
  exit_code_non_zero: [],
  exit_code: ['value'],
  score_above: ['threshold'],
  score_below: ['threshold'],
  score_between: ['min', 'max'],
  confidence_above: ['threshold'],
  consensus: [],
  all_approved: [],
  any_rejected: [],
  input_equals: ['value'],
  input_equals_yes: [],
  input_equals_no: [],
  custom: ['expression'],
};
