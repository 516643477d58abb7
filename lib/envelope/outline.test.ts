import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fieldTexts } from './outline.ts';

const fieldOf = (text: string, name: string): unknown => {
  const found = fieldTexts(Buffer.from(text), ['other', name])[name];
  return found === undefined ? undefined : (JSON.parse(found.toString()) as unknown);
};

it('GW-INV-05 finds the same value of a field as JSON.parse, in any object and any layout', () => {
  const objects = fc.dictionary(fc.constantFrom('metadata', 'payload', 'x', 'token'), fc.jsonValue({ maxDepth: 4 }));
  fc.assert(
    fc.property(objects, fc.constantFrom('', ' ', '\n\t'), (value, space) => {
      const text = JSON.stringify(value, undefined, space);
      for (const name of ['metadata', 'token']) expect(fieldOf(text, name)).toEqual(JSON.parse(text)[name]);
    }),
    { numRuns: 2_000 },
  );
});

it.each<[string, string, unknown]>([
  ['in a list', '[{"metadata":1}]', undefined],
  ['in another field', '{"payload":{"metadata":1},"metadata":2}', 2],
  ['that is a value', '{"a":"metadata","b":1}', undefined],
  ['in a text', '{"a":"\\"metadata\\":1","metadata":"{\\"}"}', '{"}'],
  ['given twice', '{"metadata":1,"metadata":2}', 2],
  ['behind a text that ends in a backslash', '{"a":"\\\\","metadata":3}', 3],
  ['of what is cut off', '{"metadata":{"a":1', undefined],
  ['of nothing', '', undefined],
])('GW-INV-05 a name %s', (_title, text, want) => {
  expect(fieldOf(text, 'metadata')).toEqual(want);
});
