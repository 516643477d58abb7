import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AgentSpec } from '../../crds/schema/agent.ts';

interface Schema {
  readonly default?: string | number | boolean;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

const read = (path: string): string => readFileSync(resolve(import.meta.dirname, '../..', path), 'utf8');
/** The source of the custom resource: the stored kind leaves defaults to the controllers. */
const root: Schema = { properties: { spec: AgentSpec as unknown as Schema } };

function fieldAt(path: string): { readonly schema: Schema; readonly isRequired: boolean } {
  let schema = root;
  let isRequired = false;
  for (const name of path.split('.')) {
    const plain = name.replace('[]', '');
    const below = schema.properties?.[plain];
    if (below === undefined) throw new Error(`${path}: the kind Agent has no field ${plain}`);
    isRequired = schema.required?.includes(plain) ?? false;
    schema = name.endsWith('[]') && below.items !== undefined ? below.items : below;
  }
  return { schema, isRequired };
}

function bounds(least: number | undefined, most: number | undefined, unit: string): string {
  if (most === undefined) return '';
  return least === undefined ? `at most ${most}${unit}` : `${least} to ${most}${unit}`;
}

const boundsOf = ({ minimum, maximum, minLength, maxLength, minItems, maxItems }: Schema): string =>
  bounds(minimum, maximum, '') || bounds(minLength, maxLength, ' characters') || bounds(minItems, maxItems, ' items');

function defaultOf(path: string): string {
  const { schema, isRequired } = fieldAt(path);
  if (isRequired) return 'required';
  return schema.default === undefined ? 'none' : `\`${String(schema.default)}\``;
}

const rows = [...read('docs/agents.md').matchAll(/^\| `(spec\.[^`]+)` \| ([^|]*) \| ([^|]*)\| /gm)].map(
  ([, path = '', fallback = '', bound = '']) => ({ path, fallback: fallback.trim(), bound: bound.trim() }),
);

describe('the table of fields of docs/agents.md', () => {
  it('has the fields of tools, validation and approval', () => {
    const of = (path: string): readonly string[] =>
      Object.keys(fieldAt(path).schema.properties ?? {}).map((name) => `${path}.${name}`);
    const wanted = ['spec.tools[]', 'spec.execution', 'spec.execution.validation', 'spec.execution.tool_validation'];
    expect(rows.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['spec.runtime.model', ...[...wanted, 'spec.approval'].flatMap(of)]),
    );
  });

  it.each(rows)('$path has the default and the bounds of the custom resource', ({ path, fallback, bound }) => {
    expect({ fallback, bound }).toEqual({ fallback: defaultOf(path), bound: boundsOf(fieldAt(path).schema) });
  });
});
