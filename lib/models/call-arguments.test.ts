import { expect, it } from 'vitest';
import { argumentsText } from './call-arguments.ts';

const many = '1'.repeat(400);

it.each([
  ['is null for a number that none holds', `{"a": [{"b": ${many}}, -1e999, 1e308]}`, '{"a":[{"b":null},null,1e+308]}'],
  ['keeps its own text where a text has many digits', `{ "a": "${many}", "b": "1e999" }`, undefined],
  ['keeps its own text where a number has many digits and a point', `{ "a": 0.${many} }`, undefined],
  ['is an empty object for a list', `[${many}]`, '{}'],
])('the arguments text of a call %s', (_, text, want) => {
  expect(argumentsText({ id: 'c', name: 'count', arguments: text })).toBe(want ?? text);
});
