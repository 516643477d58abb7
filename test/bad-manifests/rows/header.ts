import { type BadManifest, bySchema } from '../row.ts';
import { byCel, many, noop, removed } from './words.ts';

const aVersion = 'must be a semantic version, as 1.0.0';

export const header: readonly BadManifest[] = [
  bySchema('WF-MAN-05 AMB-058', 'no version', [['spec.version', removed]], ['spec.version', 'required']),
  byCel('WF-MAN-05', 'a version of two numbers', [['spec.version', '1.0']], ['spec.version', 'pattern', aVersion]),
  byCel(
    'WF-MAN-05',
    'a version with a leading zero',
    [['spec.version', '01.0.0']],
    ['spec.version', 'pattern', aVersion],
  ),
  bySchema('WF-MAN-05', 'a version that is a number', [['spec.version', 1]], ['spec.version', 'type']),
  bySchema('WF-MAN-06', 'a description that is a list', [['spec.description', ['a']]], ['spec.description', 'type']),
  bySchema(
    'WF-MAN-09',
    'an input_schema of type array',
    [['spec.input_schema', { type: 'array' }]],
    ['spec.input_schema.type', 'enum'],
  ),
  bySchema(
    'WF-MAN-09',
    'an input_schema without type',
    [['spec.input_schema', { properties: {} }]],
    ['spec.input_schema.type', 'required'],
  ),
  bySchema(
    'WF-MAN-09',
    'an input_schema that is a text',
    [['spec.input_schema', 'object']],
    ['spec.input_schema', 'type'],
  ),
  bySchema(
    'WF-MAN-10',
    'an output_schema that is a list',
    [['spec.output_schema', []]],
    ['spec.output_schema', 'type'],
  ),
  bySchema(
    'WF-MAN-11',
    'an output_template with a number',
    [['spec.output_template', { a: 1 }]],
    ['spec.output_template.a', 'type'],
  ),
  bySchema('WF-MAN-15 AMB-060', 'a scope', [['spec.scope', 'global']], ['spec.scope', 'unknown_field']),
  bySchema('AMB-060', 'a field with a typo', [['spec.initial_sate', 'agent']], ['spec.initial_sate', 'unknown_field']),
  bySchema('WF-MAN-16', 'no initial_state', [['spec.initial_state', removed]], ['spec.initial_state', 'required']),
  byCel(
    'WF-MAN-16',
    'an initial_state that does not exist',
    [['spec.initial_state', 'nope']],
    ['spec.initial_state', 'unknown_state', "'nope' is not a key of states"],
  ),
  bySchema(
    'WF-MAN-18 AMB-059',
    'max_total_transitions 101',
    [['spec.max_total_transitions', 101]],
    ['spec.max_total_transitions', 'maximum'],
  ),
  bySchema(
    'WF-MAN-18',
    'max_total_transitions 0',
    [['spec.max_total_transitions', 0]],
    ['spec.max_total_transitions', 'minimum'],
  ),
  bySchema(
    'WF-MAN-17',
    'max_total_transitions as a text',
    [['spec.max_total_transitions', '50']],
    ['spec.max_total_transitions', 'type'],
  ),
  bySchema('WF-MAN-19', 'a context that is a list', [['spec.context', [1]]], ['spec.context', 'type']),
  bySchema('WF-MAN-21', 'no states', [['spec.states', removed]], ['spec.states', 'required']),
  bySchema('WF-MAN-21', 'an empty map of states', [['spec.states', {}]], ['spec.states', 'minProperties']),
  bySchema(
    'WF-MAN-21',
    '101 states',
    [
      ['spec.states', Object.fromEntries(many(101, (i) => [`s${i}`, noop]))],
      ['spec.initial_state', 's0'],
    ],
    ['spec.states', 'maxProperties'],
  ),
];
