import { type BadManifest, bySchema } from '../row.ts';
import { byCel, byPolicy, long, noop, removed, s } from './words.ts';

export const states: readonly BadManifest[] = [
  bySchema('WF-STATE-01', 'a state without kind', [[`${s}.done.kind`, removed]], [`${s}.done.kind`, 'required']),
  bySchema('WF-STATE-01', 'a state of an unknown kind', [[`${s}.done.kind`, 'Wait']], [`${s}.done.kind`, 'enum']),
  bySchema('WF-STATE-01', 'a kind in lower case', [[`${s}.done.kind`, 'system']], [`${s}.done.kind`, 'enum']),
  bySchema(
    'WF-STATE-03 AMB-059',
    'max_state_visits 21',
    [[`${s}.agent.max_state_visits`, 21]],
    [`${s}.agent.max_state_visits`, 'maximum'],
  ),
  bySchema(
    'WF-STATE-02',
    'max_state_visits 0',
    [[`${s}.agent.max_state_visits`, 0]],
    [`${s}.agent.max_state_visits`, 'minimum'],
  ),
  bySchema(
    'WF-STATE-04 AMB-071',
    'a timeout without unit',
    [[`${s}.agent.timeout`, '300']],
    [`${s}.agent.timeout`, 'pattern'],
  ),
  bySchema(
    'WF-STATE-04 AMB-071',
    'a timeout of two parts',
    [[`${s}.agent.timeout`, '1h30m']],
    [`${s}.agent.timeout`, 'pattern'],
  ),
  bySchema('WF-STATE-04 AMB-071', 'a timeout of 0s', [[`${s}.agent.timeout`, '0s']], [`${s}.agent.timeout`, 'pattern']),
  bySchema(
    'WF-STATE-04 AMB-071',
    'a timeout in days',
    [[`${s}.agent.timeout`, '1d']],
    [`${s}.agent.timeout`, 'pattern'],
  ),
  bySchema('WF-STATE-04', 'a timeout that is a number', [[`${s}.agent.timeout`, 300]], [`${s}.agent.timeout`, 'type']),
  bySchema(
    'WF-STATE-08',
    'a state without transitions',
    [[`${s}.done.transitions`, removed]],
    [`${s}.done.transitions`, 'required'],
  ),
  bySchema(
    'WF-STATE-08',
    'transitions that are a map',
    [[`${s}.done.transitions`, {}]],
    [`${s}.done.transitions`, 'type'],
  ),
  byCel(
    'WF-STATE-05',
    'an agent volume without volume',
    [[`${s}.agent.volumes.0.volume`, removed]],
    [`${s}.agent.volumes[0].volume`, 'required', 'volumes[].volume is required for kind Agent', `${s}.agent.volumes`],
  ),
  bySchema(
    'WF-STATE-06',
    'an agent volume without mount_path',
    [[`${s}.agent.volumes.0.mount_path`, removed]],
    [`${s}.agent.volumes[0].mount_path`, 'required'],
  ),
  bySchema(
    'WF-STATE-06',
    'a relative mount_path',
    [[`${s}.agent.volumes.0.mount_path`, 'work']],
    [`${s}.agent.volumes[0].mount_path`, 'pattern'],
  ),
  byCel(
    'WF-STATE-07',
    'an agent volume without access_mode',
    [[`${s}.agent.volumes.0.access_mode`, removed]],
    [
      `${s}.agent.volumes[0].access_mode`,
      'required',
      'volumes[].access_mode is required for kind Agent',
      `${s}.agent.volumes`,
    ],
  ),
  bySchema(
    'WF-STATE-07',
    'an unknown access_mode',
    [[`${s}.agent.volumes.0.access_mode`, 'rw']],
    [`${s}.agent.volumes[0].access_mode`, 'enum'],
  ),
  byPolicy(
    'AMB-061',
    'a state name that begins with a digit',
    [[`${s}.9lives`, noop]],
    [`${s}["9lives"]`, 'state_name', 'must match', `${s}.9lives`],
  ),
  byPolicy(
    'AMB-061',
    'a state name of 64 characters',
    [[`${s}.${long(64)}`, noop]],
    [`${s}.${long(64)}`, 'state_name', 'must match'],
  ),
  byPolicy(
    'AMB-061',
    'a state called blackboard',
    [[`${s}.blackboard`, noop]],
    [`${s}.blackboard`, 'reserved_name', 'the name is reserved'],
  ),
  byPolicy(
    'AMB-061',
    'a state called like a helper',
    [[`${s}.first_line`, noop]],
    [`${s}.first_line`, 'reserved_name', 'the name is reserved'],
  ),
  byPolicy(
    'AMB-061',
    'a state called __proto__',
    [[`${s}.__proto__`, noop]],
    [`${s}.__proto__`, 'reserved_name', 'the name is reserved'],
  ),
  bySchema(
    'AMB-060',
    'an unknown field of a state',
    [[`${s}.done.transition`, []]],
    [`${s}.done.transition`, 'unknown_field'],
  ),
];
