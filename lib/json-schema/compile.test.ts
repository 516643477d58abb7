import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileSchema } from './compile.ts';
import { schemaLimits } from './limits.ts';
import { checkSchema } from './validate.ts';

function texts(schema: unknown): string[] {
  return checkSchema(schema).map(({ path, message }) => `${path}: ${message}`);
}

describe('checkSchema', () => {
  it.each([
    ['an empty schema', {}],
    ['true', true],
    [
      'everything clients support',
      {
        type: 'object',
        properties: {
          s: { type: 'string' },
          n: { type: 'number' },
          i: { type: 'integer' },
          b: { type: 'boolean' },
          e: { enum: [1, 'a'] },
          o: { type: 'object' },
          a: { type: 'array', items: {} },
        },
      },
    ],
    ['its dialect', { $schema: 'https://json-schema.org/draft/2020-12/schema' }],
    ['draft-07', { $schema: 'http://json-schema.org/draft-07/schema', items: [true], dependencies: { a: ['b'] } }],
    ['an id at the root', { $id: 'https://example.com/a', type: 'object' }],
    [
      'notes',
      { title: 't', description: 'd', examples: [1], default: {}, deprecated: true, 'x-order': 3, format: 'email' },
    ],
    ['recursion through properties', { properties: { next: { $ref: '#' } } }],
    ['recursion through items', { $defs: { tree: { items: { $ref: '#/$defs/tree' } } }, $ref: '#/$defs/tree' }],
    ['a type that is a property name', { properties: { type: { type: 'string' }, $ref: { type: 'string' } } }],
  ])('WF-MAN-09 WF-MAN-10 WF-MAN-12 accepts %s', (_name, schema) => {
    expect(texts(schema)).toEqual([]);
  });

  it.each([
    [5, ': a schema is an object'],
    [null, ': a schema is an object'],
    [[{}], ': a schema is an object'],
    [{ properties: { a: { typ: 'string' } } }, 'properties.a.typ: is not a supported keyword'],
    [{ type: 'text' }, 'type: must be one or more of'],
    [{ type: [] }, 'type: must be one or more of'],
    [{ type: ['string', 'string'] }, 'type: must be one or more of'],
    [{ properties: [] }, 'properties: must be an object of schemas'],
    [{ properties: { a: 1 } }, 'properties: must be an object of schemas'],
    [{ required: 'a' }, 'required: must be a list'],
    [{ required: ['a', 'a'] }, 'required: must be a list'],
    [{ minLength: -1 }, 'minLength: must be an integer'],
    [{ minLength: 1.5 }, 'minLength: must be an integer'],
    [{ minimum: '1' }, 'minimum: must be a number'],
    [{ multipleOf: 0 }, 'multipleOf: must be a number above zero'],
    [{ enum: [] }, 'enum: must be a list of 1 to'],
    [{ anyOf: [] }, 'anyOf: must be a list of schemas'],
    [{ items: [{}] }, 'items: must be a schema'],
    [{ uniqueItems: 'yes' }, 'uniqueItems: must be true or false'],
    [{ dependencies: {} }, 'dependencies: is a keyword of draft-07'],
    [{ $schema: 'http://json-schema.org/draft-04/schema#' }, '$schema: names a dialect'],
    [{ properties: { a: { $id: 'x' } } }, 'properties.a.$id: is supported at the root only'],
    [{ $dynamicRef: '#a' }, '$dynamicRef: is not a supported keyword'],
    [{ allOf: [{ $anchor: 'a' }, { $anchor: 'a' }] }, 'allOf[1].$anchor: the anchor "a" is a duplicate'],
    [{ pattern: '(?=a)b' }, 'pattern: the pattern "(?=a)b" is not supported'],
    [{ pattern: '(' }, 'pattern: the pattern "(" is not supported'],
    [{ pattern: '(a{1000}){1000}' }, 'pattern: the pattern'],
    [{ patternProperties: { '(?<!a)b': {} } }, 'patternProperties: the pattern'],
  ])('WF-MAN-09 refuses %j', (schema, want) => {
    expect(texts(schema)).toEqual([expect.stringContaining(want)]);
  });

  it.each([
    'https://example.com/schema.json',
    'http://169.254.169.254/latest',
    'file:///etc/passwd',
    'other.json',
    '//example.com/x',
    'urn:x',
    '',
  ])('AMB-087 refuses the reference %j, which would have to be fetched', (ref) => {
    expect(texts({ properties: { a: { $ref: ref } } })).toEqual([expect.stringContaining('properties.a.$ref')]);
  });

  it.each(['#/nope', '#/properties', '#/properties/a/enum', '#nope', '#/properties/a/', '#/%E0%A4%A'])(
    'refuses the reference %j, which leads to no schema',
    (ref) => {
      expect(texts({ properties: { a: { enum: [{}] }, b: { $ref: ref } } })).toEqual([
        expect.stringContaining('leads to no schema'),
      ]);
    },
  );

  it.each([
    [{ $ref: '#' }],
    [{ allOf: [{ $ref: '#' }] }],
    [{ $defs: { a: { anyOf: [{ $ref: '#/$defs/b' }] }, b: { not: { $ref: '#/$defs/a' } } }, $ref: '#/$defs/a' }],
    [{ properties: { x: { if: { dependentSchemas: { a: { $ref: '#/properties/x' } } } } } }],
  ])('refuses %j, which would never end', (schema) => {
    expect(texts(schema)).toEqual([expect.stringContaining('never ends')]);
  });

  it.each([
    ['subschemas', (n: number) => ({ allOf: Array.from({ length: n - 1 }, () => ({})) }), schemaLimits.subschemas],
    [
      'values of a list',
      (n: number) => ({ enum: Array.from({ length: n }, (_, index) => index) }),
      schemaLimits.listEntries,
    ],
    [
      'patterns',
      (n: number) => ({ allOf: Array.from({ length: n }, (_, index) => ({ pattern: `a${index}` })) }),
      schemaLimits.patterns,
    ],
    ['characters of a pattern', (n: number) => ({ pattern: 'a'.repeat(n) }), schemaLimits.patternLength],
    [
      'levels',
      (n: number) => ({ default: JSON.parse('['.repeat(n - 1) + '1' + ']'.repeat(n - 1)) as unknown }),
      schemaLimits.depth,
    ],
    ['values', (n: number) => ({ default: Array.from({ length: n - 2 }, () => 0) }), schemaLimits.size],
  ])('accepts the limit of %s and refuses one more', (_name, make, limit) => {
    expect([limit - 1, limit, limit + 1].map((n) => texts(make(n)).length)).toEqual([0, 0, 1]);
  });

  it('finds every problem of a schema', () => {
    expect(
      checkSchema({ type: 'x', properties: { a: { type: 'y' }, b: { minimum: null } } }).map(({ path }) => path),
    ).toEqual(['type', 'properties.a.type', 'properties.b.minimum']);
  });

  it('throws nothing, whatever the document', () => {
    const keys = fc.constantFrom(
      'type',
      'properties',
      'items',
      '$ref',
      'anyOf',
      'required',
      'pattern',
      'enum',
      '$defs',
      'not',
      '$schema',
      '$anchor',
      'x',
      '__proto__',
    );
    const { document } = fc.letrec<{ document: unknown }>((tie) => ({
      document: fc.oneof(
        { maxDepth: 4, depthSize: 'small' },
        fc.constantFrom<unknown>(
          'string',
          '#',
          '#/$defs/a',
          '(',
          1,
          -1,
          null,
          true,
          'http://json-schema.org/draft-07/schema#',
        ),
        fc.array(tie('document'), { maxLength: 3 }),
        fc.dictionary(keys, tie('document'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(document, (schema) => {
        expect(checkSchema(schema)).toBeInstanceOf(Array);
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('what is remembered', () => {
  const heavy = (index: number) => ({
    anyOf: Array.from({ length: 5 }, (_, part) => ({
      pattern: `[a-z${index}]{990}[A-Z]{990}${part}`,
    })),
  });
  const light = (index: number) => ({ pattern: `[a-z${index}]` });

  it.each([
    ['a few schemas whose short patterns compile to long programs', heavy, false],
    ['many others', light, true],
  ])('is bounded by what it takes: %s', (_title, schema, isKept) => {
    const [first] = [0, 1, 2, 3].map((index) => compileSchema(schema(index)));
    expect(compileSchema(schema(3))).toBe(compileSchema(schema(3)));
    expect(compileSchema(schema(0)) === first).toBe(isKept);
  });
});
