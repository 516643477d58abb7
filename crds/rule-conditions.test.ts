import { describe, expect, it } from 'vitest';
import { ruleConditionFields, ruleConditionKinds } from './rule-conditions.ts';
import { stateKinds } from './schema/state-kinds.ts';
import { ruleConditions } from './schema/rule-condition-names.ts';

/** spec 1 §2.6.9, column "Applies to", turned round: the conditions of each kind. */
const byKind = {
  Agent: [
    'always',
    'on_success',
    'on_failure',
    'score_above',
    'score_below',
    'score_between',
    'confidence_above',
    'custom',
  ],
  System: ['always', 'on_success', 'on_failure', 'exit_code_zero', 'exit_code_non_zero', 'exit_code', 'custom'],
  ContainerRun: ['always', 'on_success', 'on_failure', 'exit_code_zero', 'exit_code_non_zero', 'exit_code', 'custom'],
  ParallelContainerRun: ['always', 'on_success', 'on_failure', 'custom'],
  Subworkflow: ['always', 'on_success', 'on_failure', 'custom'],
  ParallelAgents: ['always', 'consensus', 'all_approved', 'any_rejected', 'custom'],
  Human: ['always', 'input_equals', 'input_equals_yes', 'input_equals_no', 'custom'],
};

describe('conditionKinds', () => {
  it.each(stateKinds)('AMB-062 %s takes exactly its conditions', (kind) => {
    expect(ruleConditions.filter((name) => ruleConditionKinds[name].includes(kind))).toEqual(byKind[kind]);
  });

  it('AMB-063 names the fields that each condition needs', () => {
    const needed = ruleConditions
      .filter((name) => ruleConditionFields[name].length > 0)
      .map((name) => [name, ...ruleConditionFields[name]]);
    expect(needed).toEqual([
      ['exit_code', 'value'],
      ['score_above', 'threshold'],
      ['score_below', 'threshold'],
      ['score_between', 'min', 'max'],
      ['confidence_above', 'threshold'],
      ['input_equals', 'value'],
      ['custom', 'expression'],
    ]);
  });
});
