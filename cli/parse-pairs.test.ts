import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CliError } from './exit-codes.ts';
import { parsePairs } from './parse-pairs.ts';

describe('AMB-088 KEY=VALUE pairs', () => {
  it.each<[title: string, pair: string, want: Record<string, unknown>]>([
    ['a number', 'n=3', { n: 3 }],
    ['a negative fraction', 'n=-0.5', { n: -0.5 }],
    ['a boolean', 'dry=true', { dry: true }],
    ['null', 'x=null', { x: null }],
    ['a quoted number is a string', 'n="3"', { n: '3' }],
    ['leading zeros are no number', 'zip=01234', { zip: '01234' }],
    ['a word', 'name=Ada', { name: 'Ada' }],
    ['an empty value', 'name=', { name: '' }],
    ['a value with further equals signs', 'q=a=b=c', { q: 'a=b=c' }],
    ['a list', 'tags=["a",1]', { tags: ['a', 1] }],
    ['an object', 'o={"a":{"b":2}}', { o: { a: { b: 2 } } }],
    ['JSON that is cut off stays text', 'o={"a":', { o: '{"a":' }],
    ['a dotted key is one key', 'a.b=1', { 'a.b': 1 }],
    ['the largest safe integer', 'n=9007199254740991', { n: 9007199254740991 }],
    ['one more keeps its digits as text', 'n=9007199254740992', { n: '9007199254740992' }],
  ])('%s', (_title, pair, want) => {
    expect(parsePairs([pair], '--input')).toEqual(want);
  });

  it('a key called __proto__ is a key like any other', () => {
    const parsed = parsePairs(['__proto__={"polluted":true}'], '--input');
    expect(Object.keys(parsed)).toEqual(['__proto__']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it.each(['', 'word', '=value'])('%j is refused with how to write it', (pair) => {
    expect(() => parsePairs([pair], '--input')).toThrow(expect.objectContaining({ exit: 'usage' }));
  });

  it('a key given twice is refused', () => {
    expect(() => parsePairs(['a=1', 'a=2'], '--blackboard')).toThrow(CliError);
    expect(() => parsePairs(['a=1', 'a=2'], '--blackboard')).toThrow(/--blackboard gives the key 'a' twice/);
  });

  it.each([
    ['name', '--input name=value'],
    ['', '--input key=value'],
    ['=x', '--input key=value'],
  ])('%j is shown how it is written', (pair, want) => {
    expect(() => parsePairs([pair], '--input')).toThrow(expect.objectContaining({ hint: `Write it as ${want}.` }));
  });

  it('any JSON object survives being written as pairs', () => {
    const keys = fc.string({ minLength: 1 }).filter((key) => !key.includes('='));
    const values = fc.jsonValue({ noUnicodeString: false }).filter((value) => !hasNegativeZero(value));
    fc.assert(
      fc.property(fc.dictionary(keys, values), (object) => {
        const pairs = Object.entries(object).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
        const safe = pairs.filter((pair) => !/^[^=]*=-?\d{16,}$/.test(pair));
        fc.pre(safe.length === pairs.length);
        expect(parsePairs(pairs, '--input')).toEqual({ ...object });
      }),
    );
  });
});

function hasNegativeZero(value: unknown): boolean {
  return JSON.stringify(value, (_key, inner: unknown) => (Object.is(inner, -0) ? '-0' : inner)).includes('"-0"');
}
