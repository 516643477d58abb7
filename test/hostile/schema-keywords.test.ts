import { beforeAll, describe, expect, it } from 'vitest';
import { applicators, finishers } from '../../lib/json-schema/applicators.ts';
import { assertions } from '../../lib/json-schema/assertions.ts';
import { checkSchema, validateWithin } from '../../lib/json-schema/validate.ts';
import { Work, WorkBudgetExceeded } from '../../lib/work/work.ts';
import { processorTime } from '../support/processor-time.ts';

/** Times the processor time of work that pays its price; a keyword that pays nothing takes a hundred times. */
const tolerated = 8;
const dialect7 = 'http://json-schema.org/draft-07/schema#';

const keyed = <V>(count: number, value: (at: number) => V, key = 'k'): Record<string, V> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${key}${at}`, value(at)]));

const object = keyed(20_000, () => 0);
const list = Array.from({ length: 50_000 }, () => 0);
const text = 'x'.repeat(300_000);
const longKeys = keyed(300, () => 0, 'k'.repeat(3_000));
const names = Object.keys(keyed(1_000, () => 0));
const never = { type: 'null' };

interface Case {
  /** Schemas of which each makes the keyword dear. */
  readonly schemas: readonly Readonly<Record<string, unknown>>[];
  readonly values: readonly unknown[];
  readonly draft7?: boolean;
}

const ofObject = (...schemas: Case['schemas']): Case => ({ schemas, values: [object] });
const ofList = (...schemas: Case['schemas']): Case => ({ schemas, values: [list] });
const ofNumber = (...schemas: Case['schemas']): Case => ({ schemas, values: [7] });

/** Each keyword over the widest value that it looks at, as content and as discontent as can be. */
const cases: Readonly<Record<string, Case>> = {
  type: { schemas: [{ type: ['string', 'null'] }], values: [object, list, text, 7] },
  enum: { schemas: [{ enum: [1, longKeys] }], values: [longKeys, text, list] },
  const: { schemas: [{ const: longKeys }, { const: [[[[text]]]] }], values: [longKeys, [[[[text]]]]] },
  multipleOf: ofNumber({ multipleOf: 2 }),
  maximum: ofNumber({ maximum: 1 }),
  exclusiveMaximum: ofNumber({ exclusiveMaximum: 1 }),
  minimum: ofNumber({ minimum: 9 }),
  exclusiveMinimum: ofNumber({ exclusiveMinimum: 9 }),
  maxLength: { schemas: [{ maxLength: 1 }], values: [text] },
  minLength: { schemas: [{ minLength: 1 }], values: [text] },
  pattern: { schemas: [{ pattern: '(a|x|xx)*y$' }], values: [text] },
  maxItems: ofList({ maxItems: 1 }),
  minItems: ofList({ minItems: 1 }),
  uniqueItems: { schemas: [{ uniqueItems: true }], values: [list, [longKeys, longKeys]] },
  maxProperties: ofObject({ maxProperties: 1 }, { properties: { k0: true }, maxProperties: 30_000 }),
  minProperties: ofObject({ minProperties: 1 }),
  required: ofObject({ required: names }, { required: names.map((name) => `${name}x`) }),
  dependentRequired: ofObject({ dependentRequired: keyed(1_000, () => ['missing']) }),
  $ref: ofObject({ $ref: '#/$defs/never' }),
  allOf: ofObject({ allOf: [{}, never] }),
  anyOf: ofObject({ anyOf: [never, { properties: keyed(1_000, () => true) }] }),
  oneOf: ofObject({ oneOf: [never, never] }),
  not: ofObject({ not: {} }),
  if: ofObject({ if: {}, else: never }, { if: never, else: never }),
  dependentSchemas: ofObject({ dependentSchemas: keyed(1_000, () => true) }),
  dependencies: { ...ofObject({ dependencies: keyed(1_000, () => ['missing']) }), draft7: true },
  properties: ofObject({ properties: keyed(1_000, () => true) }, { properties: keyed(1_000, () => true, 'missing') }),
  patternProperties: ofObject({ patternProperties: { '^z': true } }, { patternProperties: { '^k': never } }),
  additionalProperties: ofObject({ additionalProperties: false }, { additionalProperties: never }),
  propertyNames: ofObject({ propertyNames: { maxLength: 1 } }),
  prefixItems: ofList({ prefixItems: Array.from({ length: 1_000 }, () => true) }),
  items: ofList({ items: false }, { items: true }, { items: never }),
  additionalItems: { ...ofList({ items: [true], additionalItems: false }), draft7: true },
  contains: ofList({ contains: never }, { contains: true }),
  unevaluatedItems: ofList({ unevaluatedItems: false }, { items: true, unevaluatedItems: false }),
  unevaluatedProperties: ofObject(
    { unevaluatedProperties: false },
    { additionalProperties: true, unevaluatedProperties: false },
    { allOf: Array.from({ length: 20 }, () => ({ additionalProperties: true })), unevaluatedProperties: false },
  ),
};

/** A schema applied to a value by five thousand references of three kilobytes. */
const often = (schema: Readonly<Record<string, unknown>>, draft7 = false): Record<string, unknown> => ({
  ...(draft7 ? { $schema: dialect7 } : {}),
  allOf: Array.from({ length: 50 }, () => ({ $ref: '#/$defs/many' })),
  $defs: { many: { allOf: Array.from({ length: 100 }, () => ({ $ref: '#/$defs/one' })) }, one: schema, never },
});

function judge(schema: unknown, value: unknown): void {
  try {
    validateWithin(new Work(), schema, value);
  } catch (error) {
    if (!(error instanceof WorkBudgetExceeded)) throw error;
  }
}

/** Processor time of as much work as one turn may do, at the price of one schema applied to one value. */
async function timeOfTurn(): Promise<number> {
  const cheap = often({ allOf: Array.from({ length: 10 }, () => ({ type: 'integer' })) });
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 5; run += 1) least = Math.min(least, await processorTime(() => judge(cheap, 7)));
  return least;
}

describe('a keyword of a JSON Schema', () => {
  let turn = 0;
  beforeAll(async () => {
    turn = await timeOfTurn();
  });

  it('has a row here', () => {
    const all = [assertions, applicators, finishers].flatMap((table) => Object.keys(table));
    expect(Object.keys(cases).sort()).toEqual(all.sort());
  });

  const rows = Object.entries(cases).flatMap(([keyword, { schemas, values, draft7 }]) =>
    schemas.flatMap((schema, at) =>
      values.map((value, which) => ({ row: `${keyword} ${at}.${which}`, schema: often(schema, draft7), value })),
    ),
  );

  it.each(rows)('pays for the work that it does however often it is applied: $row', async ({ schema, value }) => {
    expect(checkSchema(schema)).toEqual([]);
    const taken = await processorTime(() => judge(schema, value));
    expect(taken / turn).toBeLessThan(tolerated);
  });
});
