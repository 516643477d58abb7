import { describe, expect, it } from 'vitest';
import { argumentProblem, givenArguments } from './arguments.ts';

const schema = {
  type: 'object',
  required: ['sku'],
  properties: { sku: { type: 'string' }, note: { type: 'string' }, price: { type: ['number', 'null'] } },
} as const;
const tool = { name: 'orders.create', input_schema: schema as never };

describe('arguments that are null', () => {
  it('GW-INV-22 of a required field are missing', () => {
    expect(argumentProblem(tool, { sku: null })).toMatchObject({
      kind: 'arguments',
      message: "Invalid tool arguments: required field 'sku' is missing or null for tool 'orders.create'",
    });
  });

  it('of an optional field are not given, for the check and for the tool alike', () => {
    const args = { sku: 'tea', note: null };
    expect(argumentProblem(tool, args)).toBeUndefined();
    expect(givenArguments(schema, args)).toEqual({ sku: 'tea' });
  });

  it('stay where the schema has a meaning for them', () => {
    const args = { sku: 'tea', price: null };
    expect(argumentProblem(tool, args)).toBeUndefined();
    expect(givenArguments(schema, args)).toBe(args);
  });
});
