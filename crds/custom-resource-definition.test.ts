import { expect, it } from 'vitest';
import { customResourceDefinition } from './custom-resource-definition.ts';
import { kinds } from './kinds.ts';
import type { StructuralSchema } from './structural-schema.ts';

interface Definition {
  readonly spec: { readonly versions: readonly [{ readonly schema: { readonly openAPIV3Schema: StructuralSchema } }] };
}

/** The fields that say nothing but their default in `kubectl explain`. */
function withoutText(schema: StructuralSchema, path: string): string[] {
  const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => ({ field, place: `${path}.${name}` }));
  const inner = [schema.additionalProperties, schema.items].filter((one) => one !== undefined);
  return [
    ...fields.filter(({ field }) => /^(Default: .*)?$/.test(field.description ?? '')).map(({ place }) => place),
    ...fields.flatMap(({ field, place }) => withoutText(field, place)),
    ...inner.flatMap((one) => withoutText(one, `${path}[]`)),
  ];
}

it.each(kinds.map((kind) => [kind.kind, kind] as const))(
  'kubectl explain says what each field of a %s is for',
  (_, kind) => {
    const { openAPIV3Schema } = (customResourceDefinition(kind) as Definition).spec.versions[0].schema;
    const { spec, status } = openAPIV3Schema.properties ?? {};
    expect([spec?.description, status?.description]).not.toContain(undefined);
    expect(withoutText(spec ?? {}, 'spec')).toEqual([]);
  },
);

it('kubectl get shows more of each kind than its name and age', () => {
  const named = kinds.map(({ kind, columns }) => [kind, columns.filter(({ name }) => name !== 'Age')] as const);
  expect(named.filter(([, columns]) => columns.length === 0)).toEqual([]);
});

it('kubectl get shows the name that a registered object has beside that of a hash, without -o wide', () => {
  const plain = (kind: string): string[] =>
    (kinds.find((one) => one.kind === kind)?.columns ?? [])
      .filter(({ priority = 0 }) => priority === 0)
      .map(({ name, jsonPath }) => `${name} ${jsonPath}`);
  expect(plain('ToolWorkflow')).toContain('Tool .spec.name');
  expect(plain('CliTool')).toEqual(expect.arrayContaining(['Tool .spec.name', 'Timeout .spec.timeout_seconds']));
  expect(plain('ApiSpec')).toContain('Api .spec.name');
});

it('columns of a kind read fields that its schema has', () => {
  const missing = kinds.flatMap((kind) => {
    const { openAPIV3Schema } = (customResourceDefinition(kind) as Definition).spec.versions[0].schema;
    const has = (path: string): boolean => {
      let at: StructuralSchema | undefined = openAPIV3Schema;
      for (const name of path.split('.').slice(1)) at = at?.properties?.[name.replace(/\[.*$/, '')];
      return at !== undefined;
    };
    return kind.columns.filter(({ jsonPath }) => /^\.(spec|status)\.[^[]*$/.test(jsonPath) && !has(jsonPath));
  });
  expect(missing).toEqual([]);
});
