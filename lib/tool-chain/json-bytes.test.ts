import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseExactJson } from './exact-json.ts';
import { jsonBytes } from './json-bytes.ts';

const written = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

describe('jsonBytes', () => {
  it('is the size of the text that JSON.stringify writes, of any value', () => {
    const text = fc.array(
      fc.constantFrom('a', 'é', '€', '😀', '\ud83d', '\ude00', '"', '\\', '\n', '\u0001', '\u007f'),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(fc.jsonValue(), text, (value, characters) => {
        const key = characters.join('');
        const both = JSON.parse(
          JSON.stringify([value, { [key]: key }, `${key}\ud800`, '\udc00"\\\n\u0001']),
        ) as unknown;
        expect(jsonBytes(both, Number.POSITIVE_INFINITY)).toBe(written(both));
      }),
      { numRuns: 200 },
    );
  });

  it.each(['[]', '{}', '[[],{}]', '""', 'null', 'true', '-0.5', '12345678901234567890', '{"a":[1,"b",null]}'])(
    'counts %s',
    (text) => expect(jsonBytes(parseExactJson(text), 1_000)).toBe(text.length),
  );

  it('counts what is referred to twice twice', () => {
    const part = ['abc'];
    expect(jsonBytes([part, part], 1_000)).toBe(written([part, part]));
  });

  it('ends its walk beyond the bound', () => {
    let visited = 0;
    const item = Object.defineProperty({}, 'a', { enumerable: true, get: () => (visited += 1) });
    const bytes = jsonBytes(
      Array.from({ length: 1_000 }, () => item),
      100,
    );
    expect(bytes).toBeGreaterThan(100);
    expect(visited).toBeLessThan(20);
  });
});
