import { describe, expect, it } from 'vitest';
import { heapBytes } from '../heap-bytes.ts';
import { keptSchema, largeSchemaProblems, registeredSchemaBytes } from './large-schema.ts';

const schemaOf = (fields: number) => ({
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: fields }, (_, index) => [`field_${index}`, {}])),
});

describe('the schema of a registered tool', () => {
  it('is kept as it came up to its bound', () => {
    const schema = schemaOf(4_000);
    expect(keptSchema(schema)).toBe(schema);
    expect(largeSchemaProblems(schema, ['input_schema'])).toEqual([]);
  });

  it('GW-WF-03 is left out of caches beyond it, and refused there as it is where it came from', () => {
    const schema = schemaOf(95_000);
    const kept = keptSchema(schema);
    expect(heapBytes(schema, 64 * 1024 * 1024)).toBeGreaterThan(10 * registeredSchemaBytes);
    expect(heapBytes(kept, registeredSchemaBytes)).toBeLessThan(1_024);
    for (const one of [schema, kept])
      expect(largeSchemaProblems(one, ['input_schema'])).toMatchObject([{ path: 'input_schema', rule: 'too_large' }]);
  });
});
