import { expect, it } from 'vitest';
import { partPieces, partsLength } from './json-parts.ts';

it.each([
  ['quotes and backslashes', { 'a"\\': '\\"\\\\', n: [1, null, true] }],
  ['control characters', '\u0000\n\t\u001f'],
  ['characters of several bytes, across pieces', 'é漢😀"'.repeat(40_000)],
])('a JSON is sent as a value and as a string: %s', (_title, value) => {
  const text = Buffer.from(JSON.stringify(value));
  const json = [text.subarray(0, 3), text.subarray(3)];
  const parts = ['{"é":', { json, as: 'string' }, ',"v":', { json, as: 'value' }, '}'] as const;
  const sent = Buffer.concat([...partPieces(parts)]);
  expect(JSON.parse(sent.toString())).toEqual({ é: JSON.stringify(value), v: value });
  expect(partsLength(parts)).toBe(sent.length);
});
