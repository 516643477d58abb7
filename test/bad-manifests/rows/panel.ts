import { type BadManifest, bySchema } from '../row.ts';
import { byCel, removed, s } from './words.ts';

export const panel: readonly BadManifest[] = [
  byCel(
    'WF-PAR-01',
    'a panel without agents',
    [[`${s}.panel.agents`, removed]],
    [`${s}.panel.agents`, 'required', 'agents is required for kind ParallelAgents'],
  ),
  bySchema('WF-PAR-01', 'a panel without agents', [[`${s}.panel.agents`, []]], [`${s}.panel.agents`, 'minItems']),
  byCel(
    'WF-PAR-02',
    'a panel without consensus',
    [[`${s}.panel.consensus`, removed]],
    [`${s}.panel.consensus`, 'required', 'consensus is required for kind ParallelAgents'],
  ),
  bySchema(
    'WF-PAR-03',
    'a judge without agent',
    [[`${s}.panel.agents.0.agent`, removed]],
    [`${s}.panel.agents[0].agent`, 'required'],
  ),
  bySchema(
    'WF-PAR-03',
    'a judge whose agent is empty',
    [[`${s}.panel.agents.0.agent`, '']],
    [`${s}.panel.agents[0].agent`, 'minLength'],
  ),
  bySchema(
    'WF-PAR-05 AMB-084',
    'a negative weight',
    [[`${s}.panel.agents.0.weight`, -1]],
    [`${s}.panel.agents[0].weight`, 'minimum'],
  ),
  byCel(
    'WF-PAR-05 AMB-084',
    'weights that are all 0',
    [[`${s}.panel.agents.0.weight`, 0]],
    [`${s}.panel.agents`, 'weights', 'every weight is 0'],
  ),
  bySchema(
    'WF-PAR-06',
    'a judge timeout of 0',
    [[`${s}.panel.agents.0.timeout_seconds`, 0]],
    [`${s}.panel.agents[0].timeout_seconds`, 'minimum'],
  ),
  bySchema(
    'WF-PAR-07',
    'a poll interval as a duration',
    [[`${s}.panel.agents.0.poll_interval_ms`, '1s']],
    [`${s}.panel.agents[0].poll_interval_ms`, 'type'],
  ),
  bySchema(
    'WF-PAR-08',
    'a consensus without strategy',
    [[`${s}.panel.consensus.strategy`, removed]],
    [`${s}.panel.consensus.strategy`, 'required'],
  ),
  bySchema(
    'WF-PAR-08',
    'an unknown strategy',
    [[`${s}.panel.consensus.strategy`, 'median']],
    [`${s}.panel.consensus.strategy`, 'enum'],
  ),
  bySchema(
    'WF-PAR-09',
    'a consensus threshold above 1',
    [[`${s}.panel.consensus.threshold`, 1.01]],
    [`${s}.panel.consensus.threshold`, 'maximum'],
  ),
  byCel(
    'WF-PAR-10',
    'two different agreements',
    [[`${s}.panel.consensus.agreement`, 0.5]],
    [`${s}.panel.consensus.agreement`, 'conflict', 'two names of one number'],
  ),
  byCel(
    'WF-PAR-11',
    'best_of_n without n',
    [[`${s}.panel.consensus.n`, removed]],
    [`${s}.panel.consensus.n`, 'required', 'the strategy best_of_n needs n'],
  ),
  byCel(
    'WF-PAR-11 AMB-084',
    'n above the number of agents',
    [[`${s}.panel.consensus.n`, 3]],
    [`${s}.panel.consensus.n`, 'too_many', 'consensus.n is greater than the number of agents', `${s}.panel.consensus`],
  ),
  byCel(
    'WF-PAR-12',
    'more judges required than there are',
    [[`${s}.panel.consensus.min_judges_required`, 3]],
    [
      `${s}.panel.consensus.min_judges_required`,
      'too_many',
      'consensus.min_judges_required is greater',
      `${s}.panel.consensus`,
    ],
  ),
  byCel(
    'WF-PAR-15 AMB-084',
    'factors that sum to 1 + 2e-9',
    [[`${s}.panel.consensus.confidence_weighting.agreement_factor`, 0.600000002]],
    [`${s}.panel.consensus.confidence_weighting`, 'factor_sum', 'must sum to 1'],
  ),
  byCel(
    'WF-PAR-13 WF-PAR-15',
    'one factor whose sum with the default of the other is not 1',
    [[`${s}.panel.consensus.confidence_weighting`, { self_confidence_factor: 0.4 }]],
    [`${s}.panel.consensus.confidence_weighting`, 'factor_sum', 'must sum to 1'],
  ),
  byCel(
    'WF-PAR-14 WF-PAR-15',
    'the other factor alone',
    [[`${s}.panel.consensus.confidence_weighting`, { agreement_factor: 0.6 }]],
    [`${s}.panel.consensus.confidence_weighting`, 'factor_sum', 'must sum to 1'],
  ),
];
