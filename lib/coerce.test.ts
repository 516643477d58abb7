import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coerce, coerceAll } from './coerce.ts';

describe('coerce', () => {
  it.each([
    ['string', '5', '5'],
    ['string', ' {"a":1} ', ' {"a":1} '],
    ['number', '1.5', 1.5],
    ['number', ' -2e3\n', -2_000],
    ['number', '9007199254740991', 9_007_199_254_740_991],
    ['integer', '42', 42],
    ['integer', '42.0', 42],
    ['boolean', 'true', true],
    ['boolean', ' false\n', false],
    ['object', '{"a":[1]}', { a: [1] }],
    ['array', '[1,"b"]', [1, 'b']],
    ['null', 'null', null],
    ['null', '', null],
    [['integer', 'null'], '', null],
    [['string', 'integer'], '7', 7],
    [['string', 'integer'], 'x', 'x'],
    [['boolean', 'string'], 'true', true],
  ])('WF-API-03 AMB-073 as %j, %j becomes %j', (type, text, want) => {
    expect(coerce(text, { type })).toEqual({ value: want });
  });

  it.each([
    ['number', 'x'],
    ['number', ''],
    ['number', '0x10'],
    ['number', '1e999'],
    ['number', '9007199254740993'],
    ['integer', '1.5'],
    ['integer', '9007199254740992'],
    ['integer', '-9007199254740992'],
    ['boolean', 'yes'],
    ['boolean', 'True'],
    ['object', '[1]'],
    ['object', '{"a":'],
    ['array', '{}'],
    ['null', 'nil'],
    [['integer', 'boolean'], 'x'],
    ['nonsense', 'x'],
  ])('AMB-073 AMB-165 as %j, %j stays a text, with a warning', (type, text) => {
    expect(coerce(text, { type })).toEqual({ value: text, warning: expect.stringContaining('left as text') });
  });

  it.each([
    ['5', 5],
    ['true', true],
    ['null', null],
    ['"quoted"', 'quoted'],
    ['{"a":1}', { a: 1 }],
    ['plain words', 'plain words'],
    ['', ''],
    ['{"a":', '{"a":'],
    ['5 apples', '5 apples'],
    [' 7\n', 7],
  ])('AMB-073 without a schema, %j becomes %j', (text, want) => {
    for (const schema of [undefined, {}, true, { description: 'no type' }])
      expect(coerce(text, schema)).toEqual({ value: want });
  });

  it('AMB-165 without a schema, an integer beyond 2^53 stays a text, with a warning', () => {
    expect(coerce('9007199254740991', undefined)).toEqual({ value: 9_007_199_254_740_991 });
    expect(coerce('9007199254740992', undefined)).toEqual({ value: '9007199254740992', warning: expect.any(String) });
  });

  it('takes the value of an enum that prints like the text', () => {
    expect(coerce('2', { enum: [1, 2, 'three'] })).toEqual({ value: 2 });
    expect(coerce('three', { enum: [1, 2, 'three'] })).toEqual({ value: 'three' });
    expect(coerce('true', { const: true })).toEqual({ value: true });
    expect(coerce('1', { enum: ['1', 1] })).toEqual({ value: '1' });
  });

  it('gives back any JSON value from its own text', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as unknown;
        fc.pre(typeof plain !== 'number' || !Number.isInteger(plain) || Number.isSafeInteger(plain));
        expect(coerce(JSON.stringify(value), undefined)).toEqual({ value: plain });
      }),
    );
  });
});

describe('coerceAll', () => {
  const outputSchema = {
    type: 'object',
    properties: { count: { type: 'integer' }, ok: { $ref: '#/$defs/flag' }, name: { type: 'string' } },
    $defs: { flag: { type: 'boolean' } },
  };

  it('WF-API-03 types each key by its property, follows references, and guesses the rest (AMB-165)', () => {
    expect(coerceAll({ count: '3', ok: 'true', name: '3', other: '[3]' }, outputSchema)).toEqual({
      output: { count: 3, ok: true, name: '3', other: [3] },
      warnings: [],
    });
  });

  it('AMB-073 names the key in the warning and keeps the others', () => {
    const { output, warnings } = coerceAll({ count: 'many', ok: 'true' }, outputSchema);
    expect(output).toEqual({ count: 'many', ok: true });
    expect(warnings).toEqual(['count is not of type integer; left as text']);
  });

  it('AMB-165 gives {} for nothing, and survives any schema', () => {
    expect(coerceAll({}, outputSchema)).toEqual({ output: {}, warnings: [] });
    for (const schema of [null, true, 5, [], { properties: 5 }, { properties: { a: { $ref: '#/x/y' } } }]) {
      expect(coerceAll({ a: 'x' }, schema)).toEqual({ output: { a: 'x' }, warnings: [] });
    }
    expect(coerceAll({ constructor: '1' }, outputSchema).output).toEqual({ constructor: 1 });
  });
});
