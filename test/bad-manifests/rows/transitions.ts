import { type BadManifest, bySchema } from '../row.ts';
import { at, byCel, byPolicy, removed, rule, s } from './words.ts';

export const transitions: readonly BadManifest[] = [
  bySchema(
    'WF-COND-01',
    'an unknown condition',
    [[`${rule('agent')}.condition`, 'when']],
    [`${at('agent')}.condition`, 'enum'],
  ),
  bySchema(
    'WF-COND-02',
    'a rule without target',
    [[`${rule('agent')}.target`, removed]],
    [`${at('agent')}.target`, 'required'],
  ),
  byPolicy(
    'WF-COND-02',
    'a target that does not exist',
    [[`${rule('agent', 4)}.target`, 'nope']],
    [`${at('agent', 4)}.target`, 'unknown_state', "'nope' is not a key of states"],
  ),
  bySchema(
    'WF-COND-03',
    'a feedback that is a list',
    [[`${rule('agent')}.feedback`, []]],
    [`${at('agent')}.feedback`, 'type'],
  ),
  bySchema(
    'WF-COND-04',
    'a threshold below 0',
    [[`${rule('agent')}.threshold`, -0.01]],
    [`${at('agent')}.threshold`, 'minimum'],
  ),
  bySchema(
    'WF-COND-04',
    'a threshold above 1',
    [[`${rule('agent')}.threshold`, 1.01]],
    [`${at('agent')}.threshold`, 'maximum'],
  ),
  bySchema(
    'WF-COND-05',
    'an agreement above 1',
    [[`${rule('panel')}.agreement`, 2]],
    [`${at('panel')}.agreement`, 'maximum'],
  ),
  bySchema(
    'WF-COND-06',
    'a value that is a number',
    [[`${rule('system', 1)}.value`, 2]],
    [`${at('system', 1)}.value`, 'type'],
  ),
  bySchema('WF-COND-08', 'a min that is a text', [[`${rule('agent', 1)}.min`, '0']], [`${at('agent', 1)}.min`, 'type']),
  byCel(
    'WF-COND-04 AMB-063',
    'score_above without threshold',
    [[`${rule('agent')}.threshold`, removed]],
    [`${at('agent')}.threshold`, 'required', 'the condition score_above needs threshold'],
  ),
  byCel(
    'WF-COND-18 AMB-063',
    'confidence_above without threshold',
    [[`${rule('agent', 3)}.threshold`, removed]],
    [`${at('agent', 3)}.threshold`, 'required', 'the condition confidence_above needs threshold'],
  ),
  byCel(
    'WF-COND-14 AMB-063',
    'exit_code without value',
    [[`${rule('system', 1)}.value`, removed]],
    [`${at('system', 1)}.value`, 'required', 'the condition exit_code needs value'],
  ),
  byCel(
    'WF-COND-22 AMB-063',
    'input_equals without value',
    [[`${rule('approval')}.value`, removed]],
    [`${at('approval')}.value`, 'required', 'the condition input_equals needs value'],
  ),
  byCel(
    'WF-COND-07 AMB-063',
    'custom without expression',
    [[`${rule('child')}.expression`, removed]],
    [`${at('child')}.expression`, 'required', 'the condition custom needs expression'],
  ),
  byCel(
    'WF-COND-08 AMB-063',
    'score_between without max',
    [[`${rule('agent', 1)}.max`, removed]],
    [`${at('agent', 1)}.max`, 'required', 'the condition score_between needs max'],
  ),
  byCel(
    'WF-COND-08 AMB-063',
    'min above max',
    [[`${rule('agent', 1)}.min`, 0.91]],
    [`${at('agent', 1)}.min`, 'min_above_max', 'min is greater than max'],
  ),
  byCel(
    'WF-COND-10 AMB-062',
    'on_success on a Human',
    [[`${rule('approval', 3)}.condition`, 'on_success']],
    [
      `${at('approval', 3)}.condition`,
      'condition_kind',
      'the condition on_success does not apply to kind Human',
      `${s}.approval.transitions`,
    ],
  ),
  byCel(
    'WF-COND-12 AMB-062',
    'exit_code_zero on an Agent',
    [[`${rule('agent', 4)}.condition`, 'exit_code_zero']],
    [
      `${at('agent', 4)}.condition`,
      'condition_kind',
      'the condition exit_code_zero does not apply to kind Agent',
      `${s}.agent.transitions`,
    ],
  ),
  byCel(
    'WF-COND-14 AMB-062',
    'exit_code on a ParallelContainerRun',
    [[rule('parallel'), { condition: 'exit_code', value: '0', target: 'done' }]],
    [
      `${at('parallel')}.condition`,
      'condition_kind',
      'the condition exit_code does not apply to kind ParallelContainerRun',
      `${s}.parallel.transitions`,
    ],
  ),
  byCel(
    'WF-COND-15 AMB-062',
    'score_above on a ParallelAgents',
    [[rule('panel'), { condition: 'score_above', threshold: 0.5, target: 'done' }]],
    [
      `${at('panel')}.condition`,
      'condition_kind',
      'the condition score_above does not apply to kind ParallelAgents',
      `${s}.panel.transitions`,
    ],
  ),
  byCel(
    'WF-COND-19 AMB-062',
    'consensus on a System',
    [[`${rule('system', 2)}.condition`, 'consensus']],
    [
      `${at('system', 2)}.condition`,
      'condition_kind',
      'the condition consensus does not apply to kind System',
      `${s}.system.transitions`,
    ],
  ),
  byCel(
    'WF-COND-23 AMB-062',
    'input_equals_yes on a Subworkflow',
    [[`${rule('child')}.condition`, 'input_equals_yes']],
    [
      `${at('child')}.condition`,
      'condition_kind',
      'the condition input_equals_yes does not apply to kind Subworkflow',
      `${s}.child.transitions`,
    ],
  ),
];
