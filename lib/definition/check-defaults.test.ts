import { expect, it } from 'vitest';
import { checkDefinition } from './check.ts';

const definition = (input_schema: object, command: string) => ({
  version: '1.0.0',
  initial_state: 'run',
  states: {
    run: {
      kind: 'ContainerRun',
      image: 'busybox',
      command: ['sh', '-c', command],
      transitions: [{ condition: 'always', target: 'end' }],
    },
    end: { kind: 'System', command: 'finalize', transitions: [] },
  },
  input_schema,
});

const warned = (input_schema: object, command: string) =>
  checkDefinition(definition(input_schema, command)).map(({ path, message, severity }) => [severity, path, message]);

const properties = { limit: { type: 'integer', default: 3 } };
const says = (name: string, literal: string) =>
  `fills in nothing; write {{default input.${name} ${literal}}} where input.${name} is used`;

it('AMB-166 a default of the input gets a warning with what fills it in', () => {
  const path = 'spec.input_schema.properties.limit.default';
  expect(warned({ type: 'object', properties }, 'head -n {{input.limit}}')).toEqual([
    ['warning', path, says('limit', '3')],
  ]);
});

it.each([
  ['of a text', { type: 'string', default: 'a b' }, "'a b'"],
  ['of a text with quotes', { type: 'string', default: "it's" }, 'VALUE'],
  ['of a long text', { type: 'string', default: 'x'.repeat(41) }, 'VALUE'],
  ['that is false', { type: 'boolean', default: false }, 'false'],
  ['of a list', { type: 'array', default: [] }, 'VALUE'],
])('a default %s is written as a template takes it', (_what, field, literal) => {
  expect(warned({ type: 'object', properties: { one: field } }, 'echo {{input.one}}')).toEqual([
    ['warning', 'spec.input_schema.properties.one.default', says('one', literal)],
  ]);
});

it('a default in an object of the input has the place and the name of its field', () => {
  const nested = { type: 'object', properties: { page: { type: 'object', properties } } };
  expect(warned(nested, 'head -n {{input.page.limit}}')).toEqual([
    ['warning', 'spec.input_schema.properties.page.properties.limit.default', says('page.limit', '3')],
  ]);
});

it('a default that one template fills in and another one does not gets it as well', () => {
  const command = 'head -n {{default input.limit 3}} || echo {{input.limit}}';
  expect(warned({ type: 'object', properties }, command)).toHaveLength(1);
});

it.each([
  ['a template fills in', { type: 'object', properties }, 'head -n {{default input.limit 3}}'],
  ['no template reads', { type: 'object', properties }, 'head -n {{input.limits}}'],
  ['a text beside the braces names', { type: 'object', properties }, 'echo input.limit {{default input.limit 3}}'],
  ['a required field has', { type: 'object', properties, required: ['limit'] }, 'head -n {{input.limit}}'],
])('a default that %s gets none', (_what, schema, command) => {
  expect(warned(schema, command)).toEqual([]);
});

it.each([
  ['in an object', '{{input.limit.[0]}} {{@root.input.limit}}'],
  ['as the fallback of another one', '{{default input.other input.limit}}'],
  ['as the subject of a block', '{{#if input.limit}}some{{/if}}'],
  ['within another helper', '{{default (json input.limit) 3}}'],
])('a default of a field that a template reads %s gets a warning', (_where, command) => {
  expect(warned({ type: 'object', properties }, command)).toHaveLength(1);
});
