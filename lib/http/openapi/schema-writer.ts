import type { TSchema } from 'typebox';
import { toJsonSchema } from '../../../crds/json-schema.ts';
import { sourceOf } from '../../../crds/source-schema.ts';

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
    return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withReferences(child)]));
  }

  const lower = (value: unknown): JsonObject => toJsonSchema(sourceOf(value as TSchema)) as JsonObject;
  return {
    write: (schema) => lower(withReferences(schema)),
    components: () =>
      Object.fromEntries(Object.entries(named).map(([name, schema]) => [name, lower(withReferences(schema, true))])),
  };
}
