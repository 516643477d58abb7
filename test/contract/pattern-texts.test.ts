import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { contracts as apiContracts } from '../../api/routes/contracts.ts';
import { patternText } from '../../crds/pattern-text.ts';
import { contracts as gatewayContracts } from '../../gateway/routes/contracts.ts';

/** Every `pattern` below a value, whatever the schema language. */
function patternsOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(patternsOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, below]) =>
    name === 'pattern' && typeof below === 'string' ? [below] : patternsOf(below),
  );
}

const wordless = (schemas: unknown): readonly string[] =>
  [...new Set(patternsOf(schemas))].filter((pattern) => patternText(pattern).includes('must match'));

const generated = resolve(import.meta.dirname, '../../crds/generated');
const kinds = readdirSync(generated).filter((file) => file.endsWith('.yaml'));

describe('a text that a pattern refuses is answered in words', () => {
  it.each(kinds)('for each field of the spec of %s', (file) => {
    const [version] = parse(readFileSync(resolve(generated, file), 'utf8')).spec.versions;
    expect(wordless(version.schema.openAPIV3Schema.properties.spec)).toEqual([]);
  });

  it.each([...apiContracts, ...gatewayContracts].map((contract) => [contract.operationId, contract] as const))(
    'for each parameter and field of %s',
    (_, { params, query, headers, body }) => expect(wordless([params, query, headers, body])).toEqual([]),
  );
});
