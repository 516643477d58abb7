import { describe, expect, it } from 'vitest';
import { docComment, type ClientSchema, schemaType } from './schema-type.ts';

describe('the type of a schema', () => {
  const cases: Record<string, { readonly schema: ClientSchema; readonly want: string }> = {
    text: { schema: { type: 'string' }, want: 'string' },
    'a whole number': { schema: { type: 'integer' }, want: 'number' },
    'several types': { schema: { type: ['string', 'null'] }, want: 'string | null' },
    'a constant': { schema: { const: 'ok' }, want: '"ok"' },
    'a constant that is null': { schema: { type: 'null' }, want: 'null' },
    'an enumeration': { schema: { enum: ['a', 'b', null] }, want: '"a" | "b" | null' },
    alternatives: { schema: { anyOf: [{ type: 'string' }, { type: 'null' }] }, want: 'string | null' },
    'the same alternative twice': { schema: { oneOf: [{ type: 'integer' }, { type: 'number' }] }, want: 'number' },
    'all of several': {
      schema: { allOf: [{ $ref: '#/components/schemas/A' }, { anyOf: [{ type: 'string' }, { type: 'null' }] }] },
      want: 'A & (string | null)',
    },
    'a list': { schema: { type: 'array', items: { type: 'string' } }, want: 'readonly string[]' },
    'a list of alternatives': {
      schema: { type: 'array', items: { enum: ['a', 'b'] } },
      want: 'readonly ("a" | "b")[]',
    },
    'a component': { schema: { $ref: '#/components/schemas/Execution' }, want: 'Execution' },
    anything: { schema: {}, want: 'unknown' },
    'any object': { schema: { type: 'object' }, want: 'Readonly<Record<string, unknown>>' },
    'no property at all': {
      schema: { type: 'object', additionalProperties: false },
      want: 'Readonly<Record<string, never>>',
    },
    'a map': {
      schema: { type: 'object', additionalProperties: { type: 'integer' } },
      want: 'Readonly<Record<string, number>>',
    },
    'a map by patterns': {
      schema: { type: 'object', patternProperties: { '^.*$': { type: 'string' } } },
      want: 'Readonly<Record<string, string>>',
    },
    properties: {
      schema: {
        type: 'object',
        properties: { id: { type: 'string', description: 'Its id.' }, 'last-seen': { type: 'string' } },
        required: ['id'],
      },
      want: '{\n/** Its id. */\nreadonly id: string;\nreadonly "last-seen"?: string;\n}',
    },
    'properties beside a map': {
      schema: { properties: { id: { type: 'string' } }, additionalProperties: { type: 'string' } },
      want: '{\nreadonly id?: string;\n} & Readonly<Record<string, unknown>>',
    },
  };

  it.each(Object.entries(cases))('%s', (_, { schema, want }) => {
    expect(schemaType(schema)).toBe(want);
  });

  it.each<[title: string, schema: object, why: string]>([
    ['a keyword it does not know', { prefixItems: [] }, 'the keyword prefixItems'],
    ['negation', { not: { type: 'string' } }, 'the keyword not'],
    ['a reference to elsewhere', { $ref: 'https://example.com/schema.json' }, 'no component of the document'],
    ['a type that JSON does not have', { type: 'date' }, 'the type date'],
  ])('is refused for %s, rather than wrong', (_, schema, why) => {
    expect(() => schemaType(schema)).toThrow(why);
  });
});

describe('a comment', () => {
  it('cannot be ended by what it says', () => {
    expect(docComment('matches /a*/ only')).toBe('/** matches /a*\\/ only */\n');
  });

  it('is left out where there is nothing to say', () => {
    expect(docComment('  ')).toBe('');
    expect(docComment(undefined)).toBe('');
  });

  it('breaks long lines, and indents below the text of a list', () => {
    const words = (count: number) => Array.from({ length: count }, () => 'word').join(' ');
    expect(docComment(`- ${words(30)}`)).toBe(`/**\n * - ${words(21)}\n *   ${words(9)}\n */\n`);
  });

  it('keeps its lines', () => {
    expect(docComment('a\n\nb')).toBe('/**\n * a\n *\n * b\n */\n');
  });
});
