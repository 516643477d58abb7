import type { TSchema, TUnion } from 'typebox';
import { toJsonSchema } from '../../../crds/json-schema.ts';
import { type SourceSchema, sourceOf } from '../../../crds/source-schema.ts';
import { pascalCase } from './pascal-case.ts';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Writes schemas as JSON, with a reference in place of each named schema. */
export interface SchemaWriter {
  write(schema: TSchema): JsonObject;
  /** The named schemas themselves. */
  components(): JsonObject;
}

/** `named` are distinguished by identity: a copied or extended schema is written out. */
export function createSchemaWriter(named: Readonly<Record<string, TSchema>>): SchemaWriter {
  const names = new Map<unknown, string>(Object.entries(named).map(([name, schema]) => [schema, name]));

  /**
   * Named schemas inside are replaced before Kubernetes' own keywords are taken out, while they can still be
   * identified.
   */
  function withReferences(value: unknown, isRoot = false): unknown {
    const name = isRoot ? undefined : names.get(value);
    if (name !== undefined) return { $ref: `#/components/schemas/${name}` };
    if (Array.isArray(value)) return value.map((item) => withReferences(item));
    if (typeof value !== 'object' || value === null) return value;
    const schema = Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withReferences(child)]));
    return isTagged(value) ? { ...schema, discriminator: { ...value.discriminator, mapping: mapping(value) } } : schema;
  }

  /** OpenAPI's discriminator counts references alone, and generators ask for the value that leads to each. */
  function mapping({ discriminator, anyOf }: TaggedUnion): Readonly<Record<string, string>> {
    const targets = anyOf.map((variant) => {
      const name = names.get(variant);
      const value = tagOf(variant, discriminator.propertyName);
      if (name === undefined) throw new TypeError(`the variant ${value} of a union needs a name: see variantSchemas`);
      return [value, `#/components/schemas/${name}`] as const;
    });
    return Object.fromEntries(targets);
  }

  const lower = (value: unknown): JsonObject => toJsonSchema(sourceOf(value as TSchema)) as JsonObject;
  return {
    write: (schema) => lower(withReferences(schema)),
    components: () =>
      Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, lower(withReferences(schema, true))])),
  };
}

type TaggedUnion = SourceSchema & Required<Pick<SourceSchema, 'anyOf' | 'discriminator'>>;

const isTagged = (value: object): value is TaggedUnion => 'discriminator' in value && 'anyOf' in value;

function tagOf(variant: SourceSchema, tag: string): string {
  const values = variant.properties?.[tag]?.enum ?? [];
  const [value] = values;
  if (value === undefined || values.length !== 1) throw new TypeError(`a variant needs one value of ${tag}`);
  return value;
}

/** The union and its variants under names of their own: `State` and `HumanState` for `as` State. */
export function variantSchemas(union: TUnion, as: string): Readonly<Record<string, TSchema>> {
  const tag = sourceOf(union).discriminator?.propertyName ?? '';
  return {
    [as]: union,
    ...Object.fromEntries(union.anyOf.map((variant) => [`${pascalCase(tagOf(sourceOf(variant), tag))}${as}`, variant])),
  };
}
