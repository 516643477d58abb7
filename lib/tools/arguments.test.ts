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

describe('fields that objects inside the arguments require', () => {
  const nested = {
    name: 'orders.create',
    input_schema: {
      type: 'object',
      properties: {
        o: {
          type: 'object',
          required: ['x'],
          properties: { x: { type: 'string' }, y: { type: 'string' }, z: { type: ['string', 'null'] } },
        },
        items: { type: 'array', items: { $ref: '#/$defs/item' } },
      },
      $defs: { item: { type: 'object', required: ['x', 'n'], properties: { n: { type: ['integer', 'null'] } } } },
    } as never,
  };
  const missing = (name: string) =>
    `Invalid tool arguments: required field '${name}' is missing or null for tool 'orders.create'`;

  it.each<[what: string, args: object, name: string]>([
    ['missing', { o: {} }, 'o.x'],
    ['null', { o: { x: null } }, 'o.x'],
    ['missing in a list', { items: [{ x: 1, n: 1 }, { n: 1 }] }, 'items[1].x'],
    ["null in a list, where null is another field's value", { items: [{ n: null }] }, 'items[0].x'],
    ['missing behind another mistake', { o: { x: null, y: 7 } }, 'o.x'],
  ])('GW-INV-28 one that is %s is named by its path', (_what, args, name) => {
    expect(argumentProblem(nested, args)).toMatchObject({ code: 'InvalidArguments', message: missing(name) });
  });

  it('GW-INV-28 a null that no object requires, or that the schema allows, is no missing field', () => {
    expect(argumentProblem(nested, { o: { x: 'a', y: null } })?.message).toBe(
      "Invalid tool arguments: o.y must be string, not null for tool 'orders.create'",
    );
    expect(argumentProblem(nested, { items: [{ x: 1, n: null }] })).toBeUndefined();
    expect(argumentProblem(nested, { o: { x: 'a', y: 7, z: null } })?.message).toContain('o.y must be string');
  });
});
