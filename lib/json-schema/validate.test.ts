import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileSchema } from './compile.ts';
import { schemaLimits } from './limits.ts';
import { Validation, validate } from './validate.ts';
import { workLimits } from '../work/limits.ts';
import { Work, WorkBudgetExceeded } from '../work/work.ts';
import { SchemaWork } from './work.ts';

const draft07 = 'http://json-schema.org/draft-07/schema#';

function paths(schema: unknown, value: unknown): string[] {
  return validate(schema, value).map(({ path }) => path);
}

/** A chain of definitions, each of which applies the next one twice: 2ⁿ applications for one value. */
function doubling(levels: number): object {
  const twice = (level: number) => ({ allOf: [{ $ref: `#/$defs/d${level}` }, { $ref: `#/$defs/d${level}` }] });
  const names = Array.from({ length: levels }, (_, level) => [
    `d${level}`,
    level === 0 ? { type: 'string' } : twice(level - 1),
  ]);
  return { $defs: Object.fromEntries(names) as object, ...twice(levels - 1) };
}

/** Ajv's verdict; undefined where its generated code fails, as it does for a few good schemas. */
function verdicts(oracle: Ajv, schema: object, values: readonly unknown[]): boolean[] | undefined {
  try {
    const judge = oracle.compile(schema);
    return values.map((value) => judge(value) === true);
  } catch {
    return undefined;
  }
}

describe('validate', () => {
  it.each([
    ['string', 'x', 5],
    ['number', 1.5, '1'],
    ['integer', 2, 2.5],
    ['boolean', false, 0],
    ['object', {}, []],
    ['array', [], {}],
    ['null', null, 0],
  ])('WF-MAN-12 type %s takes its values and no other', (type, good, bad) => {
    expect(validate({ type }, good)).toEqual([]);
    expect(validate({ type }, bad)).toHaveLength(1);
  });

  it('WF-MAN-12 enum takes its values and no other', () => {
    const schema = { enum: ['a', 1, null, { x: [1, 2] }] };
    for (const good of ['a', 1, null, { x: [1, 2] }]) expect(validate(schema, good)).toEqual([]);
    for (const bad of ['b', '1', false, { x: [2, 1] }]) expect(validate(schema, bad)).toHaveLength(1);
  });

  it('WF-MAN-13 lists every place that does not fit', () => {
    const schema = {
      type: 'object',
      required: ['name', 'age'],
      additionalProperties: false,
      properties: {
        name: { type: 'string', minLength: 2 },
        tags: { type: 'array', uniqueItems: true, items: { type: 'string', pattern: '^[a-z]+$' } },
        'odd key': { properties: { deep: { const: true } } },
      },
    };
    const value = { name: 'x', tags: ['ok', 'Bad', 'ok', 7], 'odd key': { deep: false }, extra: 1 };
    expect(validate(schema, value)).toEqual([
      { path: 'age', message: 'is required' },
      { path: 'extra', message: 'is not allowed here; leave it out, or declare it in the schema' },
      { path: 'name', message: 'must have at least 2 characters' },
      { path: 'tags[2]', message: 'is the same as item 0; items must differ' },
      { path: 'tags[1]', message: 'must match the pattern ^[a-z]+$' },
      { path: 'tags[3]', message: 'must be string, not number' },
      { path: '["odd key"].deep', message: 'must be true' },
    ]);
  });

  it.each([
    ['minimum', 3, [2, 3, 4], [false, true, true]],
    ['maximum', 3, [2, 3, 4], [true, true, false]],
    ['exclusiveMinimum', 3, [2, 3, 4], [false, false, true]],
    ['exclusiveMaximum', 3, [2, 3, 4], [true, false, false]],
    ['multipleOf', 0.1, [0.3, 0.35, 0], [true, false, true]],
    ['minLength', 2, ['a', 'ab', 'abc', '😀'], [false, true, true, false]],
    ['maxLength', 2, ['a', 'ab', 'abc', '😀😀'], [true, true, false, true]],
    ['minItems', 1, [[], [1], [1, 2]], [false, true, true]],
    ['maxItems', 1, [[], [1], [1, 2]], [true, true, false]],
    ['minProperties', 1, [{}, { a: 1 }, { a: 1, b: 1 }], [false, true, true]],
    ['maxProperties', 1, [{}, { a: 1 }, { a: 1, b: 1 }], [true, true, false]],
  ])('%s %s at its boundary', (keyword, limit, values, want) => {
    expect(values.map((value) => validate({ [keyword]: limit }, value).length === 0)).toEqual(want);
  });

  it.each([
    [{ properties: { a: true }, unevaluatedProperties: false }, { a: 1 }, { b: 1 }],
    [{ allOf: [{ properties: { a: true } }], unevaluatedProperties: false }, { a: 1 }, { a: 1, b: 1 }],
    [
      {
        anyOf: [{ properties: { a: { const: 1 } }, required: ['a'] }, { properties: { b: true } }],
        unevaluatedProperties: false,
      },
      { a: 1, b: 1 },
      { a: 2, b: 1 },
    ],
    [
      {
        oneOf: [
          { required: ['a'], properties: { a: true } },
          { required: ['b'], properties: { b: true } },
        ],
        unevaluatedProperties: false,
      },
      { a: 1 },
      { a: 1, c: 1 },
    ],
    [
      {
        if: { properties: { a: { const: 1 } }, required: ['a'] },
        else: { properties: { b: true } },
        unevaluatedProperties: false,
      },
      { a: 1 },
      { a: 1, b: 1 },
    ],
    [
      { dependentSchemas: { c: { properties: { a: true } } }, properties: { c: true }, unevaluatedProperties: false },
      { a: 1, c: 1 },
      { a: 1 },
    ],
    [{ not: { properties: { a: { const: 1 } }, required: ['a'] }, unevaluatedProperties: false }, {}, { a: 2 }],
    [
      { $defs: { d: { properties: { a: true } } }, $ref: '#/$defs/d', unevaluatedProperties: { type: 'string' } },
      { a: 1, b: 'x' },
      { b: 1 },
    ],
    [{ allOf: [{ additionalProperties: true }], unevaluatedProperties: false }, { a: 1 }, 5],
    [{ prefixItems: [true], unevaluatedItems: false }, [1], [1, 2]],
    [{ contains: { type: 'string' }, unevaluatedItems: { type: 'number' } }, ['a', 1], ['a', null]],
    [{ allOf: [{ items: true }], unevaluatedItems: false }, [1, 2], 5],
  ])('unevaluated… in %j accepts %j, and %j only where it is no object or list', (schema, good, bad) => {
    expect(validate(schema, good)).toEqual([]);
    expect(validate(schema, bad)).toHaveLength(typeof bad === 'number' ? 0 : 1);
  });

  it('contains judges the number of items that fit', () => {
    const fits = (schema: object) =>
      [[], ['a'], ['a', 'b'], ['a', 'b', 'c']].map((value) => validate(schema, value).length === 0);
    expect(fits({ contains: { type: 'string' } })).toEqual([false, true, true, true]);
    expect(fits({ contains: { type: 'string' }, minContains: 2 })).toEqual([false, false, true, true]);
    expect(fits({ contains: { type: 'string' }, minContains: 0, maxContains: 1 })).toEqual([true, true, false, false]);
    expect(fits({ contains: false })).toEqual([false, false, false, false]);
    expect(fits({ minContains: 2 })).toEqual([true, true, true, true]);
  });

  it('AMB-166 fills in no default and asserts no format', () => {
    const value = {};
    expect(validate({ properties: { a: { default: 1 } } }, value)).toEqual([]);
    expect(value).toEqual({});
    expect(validate({ format: 'email' }, 'not an address')).toEqual([]);
  });

  it('AMB-087 follows references within the document', () => {
    const list = {
      $defs: { node: { required: ['v'], properties: { next: { $ref: '#/$defs/node' } } } },
      $ref: '#/$defs/node',
    };
    expect(paths(list, { v: 1, next: { v: 2, next: {} } })).toEqual(['next.next.v']);
    expect(paths({ $defs: { a: { $anchor: 'here', type: 'null' } }, $ref: '#here' }, 1)).toEqual(['']);
    expect(paths({ $defs: { 'a/b~c d': { type: 'null' } }, $ref: '#/$defs/a~1b~0c%20d' }, 1)).toEqual(['']);
  });

  it('AMB-087 tolerates draft-07 where the schema names it', () => {
    const schema = {
      $schema: draft07,
      items: [{ type: 'string' }],
      additionalItems: { type: 'number' },
      dependencies: { a: ['b'] },
    };
    expect(paths(schema, [1, 'x'])).toEqual(['[0]', '[1]']);
    expect(paths(schema, { a: 1 })).toEqual(['b']);
    // A reference of draft-07 has no neighbours.
    expect(
      paths(
        { $schema: draft07, definitions: { a: {} }, properties: { x: { $ref: '#/definitions/a', type: 'null' } } },
        { x: 1 },
      ),
    ).toEqual([]);
  });

  it('takes own keys that look like prototypes for data', () => {
    const value = JSON.parse('{"__proto__":1,"constructor":2}') as unknown;
    expect(paths({ required: ['toString'] }, value)).toEqual(['toString']);
    expect(paths({ properties: { constructor: { type: 'string' } }, additionalProperties: false }, value)).toEqual([
      'constructor',
      '__proto__',
    ]);
  });

  it.each<[count: number, listed: number, rest: object[]]>([
    [99, 99, []],
    [100, 100, []],
    [101, 100, [{ path: '', message: 'and 1 more' }]],
    [2_000, 100, [{ path: '', message: 'and 1900 more' }]],
  ])('WF-API-09 of %i problems lists %i and counts the others', (count, listed, rest) => {
    const schema = { properties: { list: { items: { type: 'string' } } }, additionalProperties: false };
    const value = { list: Array.from({ length: count - 1 }, () => 1), more: 1 };
    const problems = validate(schema, value);
    expect(problems.slice(0, listed).every(({ path }) => path.startsWith('list[') || path === 'more')).toBe(true);
    expect(problems.slice(listed)).toEqual(rest);
  });

  it('gives the problems of a schema that cannot be used', () => {
    expect(paths({ properties: { a: { type: 'text' } } }, {})).toEqual(['schema:properties.a.type']);
  });
});

describe('work bounds', () => {
  const tooMuch = [{ path: '', message: expect.stringContaining('too much work') }];
  const deep = (levels: number) => Array.from({ length: levels }).reduce((inner: unknown) => ({ c: inner }), 1);

  it.each([
    ['definitions that double', doubling(40), 'x'],
    [
      'recursion with anyOf',
      { anyOf: [{ properties: { c: { $ref: '#' } }, required: ['x'] }, { properties: { c: { $ref: '#' } } }] },
      deep(60),
    ],
    [
      'recursion under not',
      { not: { properties: { c: { $ref: '#' } } }, anyOf: [{ properties: { c: { $ref: '#' } } }] },
      deep(60),
    ],
    ['a pattern on a long text', { pattern: '(a|b)*a(a|b){20}$' }, 'ab'.repeat(50_000)],
    [
      'a pattern on many keys',
      { patternProperties: { '(a|b)*a(a|b){20}$': true } },
      Object.fromEntries(Array.from({ length: 3_000 }, (_, key) => [`key-${key}`, 1])),
    ],
    [
      'many schemas on many items',
      { items: { anyOf: Array.from({ length: 100 }, () => ({ type: 'string' })) } },
      Array.from({ length: 20_000 }, () => 1),
    ],
    [
      'required names on many items',
      { items: { required: Array.from({ length: 900 }, (_, name) => `n${name}`) } },
      Array.from({ length: 5_000 }, () => ({})),
    ],
    [
      'a constant on many items',
      { items: { const: Array.from({ length: 900 }, () => 1) } },
      Array.from({ length: 5_000 }, () => 1),
    ],
  ])('ends %s with a problem', (_name, schema, value) => {
    expect(validate(schema, value)).toEqual(tooMuch);
  });

  it('counts each application of a schema, so that doubling costs twice', () => {
    const cost = (levels: number) => {
      const compilation = compileSchema(doubling(levels));
      if (!compilation.ok) throw new Error('a good schema');
      const work = new Work();
      new Validation(compilation.compiled, new SchemaWork(work)).run('x');
      return workLimits.turn - work.left;
    };
    expect(cost(8) / cost(7)).toBeGreaterThan(1.8);
    expect(cost(8) / cost(7)).toBeLessThan(2.2);
  });

  it('finds duplicates among many items in linear work', () => {
    const items = Array.from({ length: 30_000 }, (_, index) => ({ index }));
    expect(validate({ uniqueItems: true }, items)).toEqual([]);
    expect(paths({ uniqueItems: true }, [...items, { index: 7 }])).toEqual(['[30000]']);
  });

  it('takes patterns that would hang a backtracking engine', () => {
    expect(paths({ pattern: '^(a+)+$' }, `${'a'.repeat(5_000)}!`)).toEqual(['']);
  });

  it('refuses a value that is nested deeper than the limit', () => {
    expect(validate({}, deep(schemaLimits.valueDepth))).toEqual([]);
    expect(validate({}, deep(schemaLimits.valueDepth + 1))).toEqual([
      { path: '', message: expect.stringContaining('nested deeper') },
    ]);
    const value = JSON.parse('['.repeat(50_000) + ']'.repeat(50_000)) as unknown;
    expect(validate({ items: { $ref: '#' } }, value)).toHaveLength(1);
  });

  it('spends no more than it was given', () => {
    const work = new SchemaWork(new Work(10));
    work.spend(10);
    expect(() => work.spend(1)).toThrow(WorkBudgetExceeded);
  });
});

// Ajv judges `contains` beside a tuple and some `unevaluated…` wrongly; those have cases of their own above.
describe('agreement with Ajv', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const count = fc.integer({ min: 0, max: 3 });
  const { schema } = fc.letrec<{ schema: object | boolean; inner: object | boolean }>((tie) => {
    const schemas = fc.array(tie('inner'), { minLength: 1, maxLength: 2 });
    const named = fc.dictionary(name, tie('inner'), { maxKeys: 2 });
    const types = fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'array', 'null');
    const keyword: Record<string, fc.Arbitrary<unknown>> = {
      type: fc.oneof(types, fc.uniqueArray(types, { minLength: 1, maxLength: 3 })),
      enum: fc.uniqueArray(fc.constantFrom(0, 1, 'a', null, true), { minLength: 1, maxLength: 3 }),
      const: fc.constantFrom<unknown>(0, 'a', { a: 1 }, [1]),
      minimum: count,
      exclusiveMaximum: count,
      multipleOf: fc.constantFrom(1, 2),
      minLength: count,
      maxLength: count,
      pattern: fc.constantFrom('^a', 'b$', '^[ab]+$'),
      items: tie('inner'),
      prefixItems: schemas,
      minItems: count,
      maxItems: count,
      uniqueItems: fc.boolean(),
      properties: named,
      patternProperties: fc.dictionary(fc.constantFrom('^a', '[bc]'), tie('inner'), { maxKeys: 2 }),
      additionalProperties: tie('inner'),
      propertyNames: fc.record({ pattern: fc.constantFrom('^[ab]$', 'a') }),
      required: fc.uniqueArray(name, { maxLength: 2 }),
      minProperties: count,
      maxProperties: count,
      dependentRequired: fc.dictionary(name, fc.uniqueArray(name, { maxLength: 2 }), { maxKeys: 2 }),
      dependentSchemas: named,
      allOf: schemas,
      anyOf: schemas,
      oneOf: schemas,
      not: tie('inner'),
      if: tie('inner'),
      // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
      then: tie('inner'),
      else: tie('inner'),
    };
    const one = fc
      .constantFrom(...Object.keys(keyword))
      .chain((key) => (keyword[key] ?? fc.constant(1)).map((value) => [key, value] as const));
    const object = fc.array(one, { maxLength: 4 }).map((entries) => Object.fromEntries(entries) as object);
    return {
      schema: object,
      inner: fc.oneof({ maxDepth: 3, depthSize: 'small' }, fc.boolean(), fc.constant({ $ref: '#/$defs/x' }), object),
    };
  });
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<unknown>(0, 1, 2, 1.5, 'a', 'ab', 'b', '', null, true, false),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(name, tie('value'), { maxKeys: 3, noNullPrototype: true }),
    ),
  }));

  it('WF-MAN-09 AMB-087 finds the same values valid, for random schemas of 2020-12', () => {
    const oracle = new Ajv2020({ strict: false, validateFormats: false });
    const whole = fc.tuple(schema, fc.constantFrom({ type: 'string' }, { required: ['a'] }, { maxItems: 1 }, true));
    fc.assert(
      fc.property(whole, fc.array(value, { minLength: 5, maxLength: 10 }), ([root, target], values) => {
        const document = { $defs: { x: target }, ...(root as object) };
        const wanted = verdicts(oracle, document, values);
        fc.pre(wanted !== undefined);
        expect(values.map((one) => validate(document, one).length === 0)).toEqual(wanted);
      }),
      { numRuns: 400 },
    );
  });

  it('AMB-087 finds the same values valid, for random schemas of draft-07', () => {
    const oracle = new Ajv({ strict: false, validateFormats: false });
    const typed = fc.constantFrom({ type: 'string' }, { type: 'integer' }, { required: ['a'] }, true, false);
    const root = fc.record(
      {
        items: fc.oneof(typed, fc.array(typed, { minLength: 1, maxLength: 2 })),
        additionalItems: typed,
        dependencies: fc.dictionary(name, fc.oneof(typed, fc.uniqueArray(name, { maxLength: 2 })), { maxKeys: 2 }),
        properties: fc.dictionary(name, typed, { maxKeys: 2 }),
        if: typed,
        // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
        then: typed,
        else: typed,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(root, fc.array(value, { minLength: 5, maxLength: 10 }), (keywords, values) => {
        const document = { $schema: draft07, ...keywords };
        const wanted = verdicts(oracle, document, values);
        fc.pre(wanted !== undefined);
        expect(values.map((one) => validate(document, one).length === 0)).toEqual(wanted);
      }),
      { numRuns: 300 },
    );
  });
});
