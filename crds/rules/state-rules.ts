import { ruleConditionKinds } from '../rule-conditions.ts';
import { prototypeKeys, reservedStepNames } from '../reserved-names.ts';
import type { CelRule } from '../schema/parts.ts';
import { stateKinds } from '../schema/state-kinds.ts';
import { celList } from './cel-text.ts';

/**
 * Rules of a state of any kind: its conditions apply to its kind (AMB-062). One rule a condition, because the API
 * server cannot bound the cost of a message that quotes a found element.
 */
export const stateRules: CelRule[] = Object.entries(ruleConditionKinds)
  .filter(([, kinds]) => kinds.length < stateKinds.length)
  .map(([condition, kinds]) => ({
    rule: `self.kind in ${celList(kinds)} || !self.transitions.exists(t, has(t.condition) && t.condition == '${condition}')`,
    message: `the condition ${condition} is only for kind ${kinds.join(', ')}`,
    messageExpression: `'the condition ${condition} does not apply to kind ' + self.kind + '; it is for ${kinds.join(', ')}'`,
    fieldPath: '.transitions',
  }));

/** Rules between the judges of a ParallelAgents state and their consensus (AMB-084). */
export const parallelAgentsRules: CelRule[] = [
  {
    rule: '!has(self.agents) || !has(self.consensus) || !has(self.consensus.n) || self.consensus.n <= self.agents.size()',
    message: 'consensus.n is greater than the number of agents',
    fieldPath: '.consensus',
  },
  {
    rule: '!has(self.agents) || !has(self.consensus) || !has(self.consensus.min_judges_required) || self.consensus.min_judges_required <= self.agents.size()',
    message: 'consensus.min_judges_required is greater than the number of agents',
    fieldPath: '.consensus',
  },
  {
    rule: '!has(self.agents) || self.agents.exists(a, !has(a.weight) || a.weight > 0.0)',
    message: 'every weight is 0; at least one agent must count',
    fieldPath: '.agents',
  },
];

/** Rules of one step of a ParallelContainerRun. */
export const stepRules: CelRule[] = [
  {
    rule: `!(self.name in ${celList(reservedStepNames)})`,
    message: `the name is reserved; a step cannot be named ${reservedStepNames.join(', ')}`,
    fieldPath: '.name',
  },
];

/** Rules of a Subworkflow state. */
export const subworkflowRules: CelRule[] = [
  {
    rule: `!has(self.result_key) || !(self.result_key in ${celList(prototypeKeys)})`,
    message: `the key is reserved; reserved are ${prototypeKeys.join(', ')}`,
    fieldPath: '.result_key',
  },
];

/** Rules of an amount of memory: what the pattern cannot say. */
export const memoryRules: CelRule[] = [
  { rule: "quantity(self).isGreaterThan(quantity('0'))", message: 'must be more than zero' },
];
