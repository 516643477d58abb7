import { describe, expect, it } from 'vitest';
import { limits } from '../../crds/limits.ts';
import { bodyWarnings } from './body-warnings.ts';

const step = (name: string, body_template: string) => ({
  name,
  operation_id: 'op',
  body_template,
  extractors: { sku: '$.sku' },
  on_error: 'AbortWorkflow' as const,
});
const warningsOf = (last: string, schema: object = {}): string[] =>
  bodyWarnings({ steps: [step('good', '{}'), step('order', last)], input_schema: { type: 'object', ...schema } }).map(
    ({ path, message, severity }) => {
      expect([path, severity]).toEqual(['steps[1].body_template', 'warning']);
      return message;
    },
  );

/** A text that needs no escapes. */
const word = { type: 'string', pattern: '^[a-z]*$' };
const neverJson = expect.stringContaining('is no JSON');

describe('warnings of body templates', () => {
  it.each([
    '{}',
    '{"sku":"{{state.good.sku}}","all":{{state.good}},"from":"{{input.a}}","too":"{{state.input.x}}"}',
    '{{input.body}}',
    '{"n":{{input.n}}, {{input.members}} }',
    '{ {{input.key}}: 1 }',
    '"\\u{{input.hex}}"',
    '"a\\\\{{input.a}}"',
    '"\\"{{input.a}}"',
    '{ {{input.members}} }',
    '[{{#each input.list}}{"n":"{{name}}","i":{{@index}}},{{/each}}0]',
    '{{#if input.a}}{"a":1}{{else}}{}{{/if}}',
    '{{#with state.good}}{"s":"{{sku}}"}{{/with}}',
    '{"a":"{{this.any}}","b":"{{@root.input.c}}","c":"{{lookup input "d"}}"}',
  ])('has none for %s', (template) => expect(warningsOf(template, { additionalProperties: word })).toEqual([]));

  it.each([
    ['{"a":"{{state.god.sku}}"}', 'reads state.god, and no step before this one has that name; did you mean good?'],
    ['{"a":"{{state.order.sku}}"}', 'reads state.order, and no step before this one has that name'],
    ['{"a":"{{state.good.sko}}"}', "reads state.good.sko, and step 'good' extracts no such variable"],
    [
      '{{#if sku}}{}{{else}}{}{{/if}}',
      'reads {{sku}}, which never has a value; values are input.FIELD and state.STEP.VARIABLE',
    ],
    ['{"a":"{{lookup state.x input.a}}"}', 'reads state.x, and no step before this one has that name'],
  ])('GW-WF-14 AMB-129 has one for %s', (template, warning) => expect(warningsOf(template)).toEqual([warning]));

  const properties = { title: { type: 'integer' } };
  it.each([
    [{ properties }],
    [{ properties, additionalProperties: false }],
    [{ required: ['title'], additionalProperties: false }],
  ])('AMB-129 has one for a field that input_schema does not list: %j', (schema) => {
    const mistyped = 'reads input.titel, and input_schema lists no such property; did you mean title?';
    for (const root of ['input', 'state.input']) {
      expect(warningsOf(`{"q":{{${root}.titel}}}`, schema)).toEqual([mistyped]);
      expect(warningsOf(`{"q":{{${root}.title}}}`, schema)).toEqual([]);
    }
    expect(warningsOf('{"q":{{input.toString}}}', schema)).toEqual([
      'reads input.toString, and input_schema lists no such property',
    ]);
  });

  it.each([
    [{ properties, additionalProperties: true }],
    [{ properties, additionalProperties: { type: 'integer' } }],
    [{ properties, patternProperties: { '^t': {} } }],
    [{ properties, anyOf: [{ properties: { titel: {} } }] }],
    [{ properties, required: ['titel'] }],
    [{ required: ['title'] }],
    [{}],
  ])('has none for a field that input_schema may have: %j', (schema) =>
    expect(warningsOf('{"q":{{input.titel}}}', schema)).toEqual([]),
  );

  it.each([
    '{"sku":"{{input.sku}}"',
    '{q: {{input.n}}}',
    ' { q: {{#if input.n}}1{{/if}} }',
    '{"a":"{{input.a}}",}',
    'sku="{{input.sku}}"',
    '{"a":1',
    '"\\u00411{{input.a}}',
  ])('GW-WF-08 has one for %s, which is never JSON', (template) =>
    expect(warningsOf(template, { additionalProperties: word })).toEqual([neverJson]),
  );

  const unescaped = (field: string) => expect.stringContaining(`puts input.${field} between quotes as it is`) as string;
  it.each([
    ['{"q":"{{input.q}}"}', ['q']],
    ['{"q":"{{state.input.q}}"}', ['q']],
    ['{"q":"a {{input.q}} {{input.q}}","r":"{{input.a.b}}"}', ['q', 'a.b']],
    ['{{#if input.n}}{"q":"{{input.q}}"}{{else}}{"r":"{{input.r}}"}{{/if}}', ['q', 'r']],
    ['{"q":"{{#if input.n}}{{input.q}}{{/if}}"}', ['q']],
    ['{"n":{{input.n}}}', []],
    ['{"\\"":{{input.n}}}', []],
    ['{"a":"{{state.good.sku}}"}', []],
  ])('GW-WF-16 has one for each input of any text that %s puts between quotes', (template, fields) =>
    expect(warningsOf(template)).toEqual(fields.map(unescaped)),
  );

  it.each([
    [{}, 1],
    [{ type: 'string' }, 1],
    [{ type: ['string', 'null'], maxLength: 9 }, 1],
    [{ type: 'string', pattern: 'a' }, 1],
    [{ type: 'string', pattern: '^.*$' }, 1],
    [{ type: 'string', pattern: '^[^a]*$' }, 1],
    [{ type: 'string', pattern: '^\\S+$' }, 1],
    [{ enum: ['a', 'b"'] }, 1],
    [{ type: 'string', pattern: '^[a-z .]{1,9}\\.$' }, 0],
    [{ type: 'string', pattern: '^[^"\\\\\\u0000-\\u001f]*$' }, 0],
    [{ type: 'string', pattern: '^[^\\\\"\\]]*$' }, 0],
    [{ type: 'string', pattern: '^[^]*$' }, 1],
    [{ type: 'string', pattern: '^\\[.\\]$' }, 1],
    // Takes minutes where an escape is also read as two characters.
    [{ type: 'string', pattern: `^\\[^${'\\d'.repeat(29)}$` }, 0],
    [{ enum: ['a', 'b'] }, 0],
    [{ const: 'a' }, 0],
    [{ type: 'integer' }, 0],
    [{ type: 'string', format: 'uuid' }, 0],
    [{ $ref: '#/$defs/word' }, 0],
  ])('GW-WF-16 of a property %j are %i', (property, count) => {
    const found = warningsOf('{"q":"{{input.q}}"}', { properties: { q: property } });
    expect(found).toEqual(count === 1 ? [unescaped('q')] : []);
  });

  it('has as many as a status may hold', () => {
    const many = (count: number): string =>
      `{"a":"${Array.from({ length: count }, (_, at) => `{{x${at}}}`).join('')}"}`;
    for (const count of [limits.warnings - 1, limits.warnings, limits.warnings + 1]) {
      expect(warningsOf(many(count))).toHaveLength(Math.min(count, limits.warnings));
    }
  });
});
