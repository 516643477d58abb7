import process from 'node:process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonTextError, parseStrictJson } from './strict-json.ts';

function problem(text: string): { path: string; message: string } {
  try {
    parseStrictJson(text, ['body']);
  } catch (error) {
    if (error instanceof JsonTextError) return { path: error.path, message: error.message };
    throw error;
  }
  return { path: 'none', message: 'accepted' };
}

const nested = (depth: number, open: string, close: string): string => open.repeat(depth) + close.repeat(depth);

describe('a JSON document', () => {
  it('is read as JSON.parse reads it, whatever it holds', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8, noUnicodeString: false }), (text) => {
        fc.pre(!text.includes('__proto__') && !hasUnsafeNumber(text));
        expect(parseStrictJson(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is judged alike with and without a space before it, which keeps it from the short way', () => {
    fc.assert(
      fc.property(jsonText, (text) => {
        expect(problem(text)).toEqual(problem(` ${text}`));
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    ['{"a":1,"a":2}', 'body.a'],
    ['{"a":1,"b":2,"\\u0061":3}', 'body.a'],
    ['{"a":{"b":[{"c":1},{"c":1,"c":1}]}}', 'body.a.b[1].c'],
    ['[[],{"":1,"":1}]', 'body[1][""]'],
    ['{"a":[1,{"x":"}"}],"b":",{","b":0}', 'body.b'],
    ['{"__proto__":{}}', 'body.__proto__'],
    ['{"a":{"__pr\\u006fto__":{}}}', 'body.a.__proto__'],
  ])('%s with a key that is repeated, or would change the prototype, is refused with its place', (text, path) => {
    expect(problem(text).path).toBe(path);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it.each([
    '{"a":{"x":1},"b":{"x":1}}',
    '[{"a":1},{"a":1}]',
    '{"a":"a","b":["a","a"]}',
    '{"constructor":1,"prototype":2,"toString":3,"hasOwnProperty":4}',
    '"a string"',
    ' { "a" : [ 1 , 2 ] } ',
    '{"a":"\\"","b":"\\\\","c":"{\\"a\\":1}"}',
    '{"emoji":"\\ud83d\\ude00 😀"}',
    `[${Number.MAX_SAFE_INTEGER},${Number.MIN_SAFE_INTEGER},-0,1e3,0.1,1.7976931348623157e308]`,
  ])('%s is accepted', (text) => {
    expect(parseStrictJson(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ['["\\ud83d"]', 'body[0]'],
    ['{"a":{"b":"x\\udc00"}}', 'body.a.b'],
    ['{"\\ud800":1}', 'body'],
  ])('%s with half a character is refused', (text, path) => {
    expect(problem(text)).toEqual({
      path: expect.stringContaining(path),
      message: expect.stringContaining('lone surrogate'),
    });
  });

  it.each([
    ['9007199254740991', 'accepted'],
    ['9007199254740992', 'beyond 2^53'],
    ['-9007199254740992', 'beyond 2^53'],
    ['12345678901234567890', 'beyond 2^53'],
    ['1e308', 'accepted'],
    ['1e309', 'too large'],
    ['-1e400', 'too large'],
    ['0.1234567890123456789', 'accepted'],
  ])('the number %s: %s', (text, want) => {
    expect(problem(`{"n":${text}}`).message).toContain(want);
  });

  it.each([
    ['[', ']'],
    ['{"a":', '}'],
  ])('may be 64 levels of %s deep and no deeper', (open, close) => {
    const value = open === '[' ? '' : '1';
    const text = (depth: number): string => open.repeat(depth) + value + close.repeat(depth);
    expect(problem(text(63)).message).toBe('accepted');
    expect(problem(text(64)).message).toBe('accepted');
    expect(problem(text(65)).message).toContain('deeper than 64');
  });

  it('of a hundred thousand levels ends no process', () => {
    expect(problem(nested(100_000, '[', ']')).message).toContain('deeper than 64');
    expect(problem(nested(100_000, '[', '')).message).toContain('not valid JSON');
  });

  it.each([
    ['', 'not valid JSON'],
    ['{"a":1', 'not valid JSON'],
    ["{'a':1}", 'not valid JSON at position 1'],
    ['{"a":1,}', 'not valid JSON'],
    ['{"a":NaN}', 'not valid JSON'],
    ['{} {}', 'not valid JSON'],
    ['// x\n{}', 'not valid JSON'],
    ['\ufeff{}', 'byte order mark'],
  ])('%j is refused: %s', (text, message) => {
    expect(problem(text)).toEqual({ path: 'body', message: expect.stringContaining(message) });
  });

  it('of a mebibyte is checked in a fraction of a second', () => {
    const text = JSON.stringify(
      Array.from({ length: 40_000 }, (_, id) => ({ id, name: `n${id}` })),
      undefined,
      1,
    );
    const start = process.threadCpuUsage();
    parseStrictJson(text);
    const { user, system } = process.threadCpuUsage(start);
    expect((user + system) / 1_000).toBeLessThan(500);
    const long = JSON.stringify({ text: 'x"\\'.repeat(300_000) });
    expect(parseStrictJson(long)).toEqual(JSON.parse(long));
  });
});

/** Documents as JSON.stringify would write them, but for what they hold: repeated keys, halves of characters, odd numbers. */
const { value: jsonText } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom('null', 'true', '0', '-0', '1.0', '1e21', '1e400', '0.1', '123456789012345', '1234567890123456'),
    fc.constantFrom('9007199254740991', '9007199254740992', '9007199254740993', '-9007199254740993', '1e+21'),
    fc.constantFrom(
      '"x"',
      '"\\ud800"',
      '"\\uD800"',
      '"\\ud83d\\ude00"',
      '"\\u0061"',
      '"😀"',
      '"1234567890123456"',
      '"\\\\ud800"',
    ),
    fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join()}]`),
    fc
      .array(fc.tuple(fc.constantFrom('"a"', '"b"', '"1"', '"0"', '"__proto__"', '"\\u0061"'), tie('value')), {
        maxLength: 4,
      })
      .map((members) => `{${members.map(([key, value]) => `${key}:${value}`).join()}}`),
  ),
}));

function hasUnsafeNumber(text: string): boolean {
  return /\d{16,}/.test(text) || /e\+?\d{3}/i.test(text);
}
