import { describe, expect, it } from 'vitest';
import { costOf, estimatedTokens, lengthOfDefinitions, textOfMessages } from './cost.ts';

const prices = {
  m: { input_per_million: 2, output_per_million: 10 },
  free: { input_per_million: 0, output_per_million: 0 },
};

describe('costOf', () => {
  it.each([
    ['m', 1_000_000, 0, 2],
    ['m', 0, 1_000_000, 10],
    ['m', 500_000, 100_000, 2],
    ['free', 500_000, 100_000, 0],
    ['absent', 1, 1, undefined],
    ['toString', 1, 1, undefined],
  ])('of %s for %i and %i tokens is %s', (model, input, output, wanted) => {
    expect(costOf(prices, model, { input, output })).toBe(wanted);
  });
});

it('tokens are estimated from everything that a model reads', () => {
  const text = textOfMessages([
    { role: 'user', content: 'abcd' },
    { role: 'assistant', content: 'ef', tool_calls: [{ id: 'not counted', name: 'gh', arguments: '{}' }] },
  ]);
  expect(text).toBe('abcdefgh{}');
  expect([0, 1, 4, 5].map((length) => estimatedTokens(length))).toEqual([0, 1, 1, 2]);
});

it('definitions of tools and the schema of an answer are read with each question', () => {
  const tool = { name: 'fs.read', description: 'Reads.', input_schema: { type: 'object' } };
  const asJson = '{"name":"fs.read","description":"Reads.","input_schema":{"type":"object"}}';
  expect(lengthOfDefinitions({ tools: [] })).toBe(0);
  expect(lengthOfDefinitions({ tools: [tool, tool] })).toBe(2 * asJson.length);
  expect(lengthOfDefinitions({ tools: [tool], outputSchema: { type: 'string' } })).toBe(asJson.length + 17);
});
