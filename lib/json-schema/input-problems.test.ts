import { describe, expect, it } from 'vitest';
import { inputProblems } from './input-problems.ts';

const schema = {
  type: 'object',
  required: ['n'],
  maxProperties: 3,
  properties: {
    n: { type: 'integer' },
    list: { type: 'array', items: { type: 'string' } },
    'a b': { type: 'string' },
  },
};
const paths = (input: unknown, of: unknown = schema) => inputProblems(of, input).map(({ path }) => path);

describe('what is wrong with an input', () => {
  it.each<[title: string, input: unknown, want: string[]]>([
    ['nothing', { n: 1 }, []],
    ['a field that is missing', {}, ['input.n']],
    ['fields deep inside and with odd names', { n: 1, list: ['a', 1], 'a b': 2 }, ['input.list[1]', 'input["a b"]']],
    ['the whole of it', { n: 1, x: 1, y: 1, z: 1 }, ['input']],
    ['that it is a list', [1], ['input']],
  ])('WF-API-09 AMB-056 is named by its path: %s', (_title, input, want) => {
    expect(paths(input).toSorted()).toEqual(want.toSorted());
  });

  it.each([
    [4, 4, undefined],
    [5, 5, undefined],
    [6, 5, 'and 1 more'],
  ])('of %i places names as many as are asked for, %i, and counts the others', (count, named, rest) => {
    const list = Array.from({ length: count }, () => 1);
    const problems = inputProblems(schema, { n: 1, list }, 5);
    expect(problems.filter(({ path }) => path.startsWith('input.list['))).toHaveLength(named);
    expect(problems.find(({ path }) => path === 'input')?.message).toBe(rest);
  });

  it('WF-API-10 is nothing without a schema', () => {
    expect(paths({ anything: [null] }, null)).not.toEqual([]);
    expect(inputProblems(undefined, { anything: [null] })).toEqual([]);
  });

  it('is said of the schema where that is the broken one', () => {
    expect(paths({}, { type: 'nothing' })).toEqual(['schema:type']);
  });
});
