import { isJsonObject } from '../json-object.ts';
import { isMatch, requireAll } from './assertions.ts';
import type { Schema } from './compiled-schema.ts';
import { schemaPrices } from './limits.ts';
import type { SchemaVisit } from './visit.ts';

type Keyword = (argument: unknown, visit: SchemaVisit) => void;
type SchemaMap = Readonly<Record<string, Schema>>;

/** Keywords that apply schemas to the same value or to its parts. */
export const applicators: Readonly<Record<string, Keyword>> = {
  $ref: (ref, visit) => visit.join(visit.compiled.targets.get(ref as string) ?? false),
  allOf: (schemas, visit) => {
    for (const schema of schemas as Schema[]) visit.join(schema);
  },
  anyOf: (schemas, visit) => {
    const content = (schemas as Schema[]).map((schema) => visit.probe(schema)).filter(({ valid }) => valid);
    for (const verdict of content) visit.adoptEvaluated(verdict);
    if (content.length === 0) visit.fail('must fit at least one of the schemas in anyOf');
  },
  oneOf: (schemas, visit) => {
    const content = (schemas as Schema[]).map((schema) => visit.probe(schema)).filter(({ valid }) => valid);
    const [only] = content;
    if (only !== undefined && content.length === 1) visit.adoptEvaluated(only);
    else visit.fail(`must fit exactly one of the schemas in oneOf, and fits ${content.length}`);
  },
  not: (schema, visit) => {
    if (visit.probe(schema as Schema).valid) visit.fail('must not fit the schema in not');
  },
  if: (schema, visit) => {
    const verdict = visit.probe(schema as Schema);
    if (verdict.valid) visit.adoptEvaluated(verdict);
    const branch = visit.schema[verdict.valid ? 'then' : 'else'];
    if (branch !== undefined) visit.join(branch as Schema);
  },
  dependentSchemas: (schemas, visit) => {
    for (const [name, schema] of Object.entries(schemas as SchemaMap)) if (has(visit, name)) visit.join(schema);
  },
  dependencies: (entries, visit) => {
    for (const [name, entry] of Object.entries(entries as Record<string, Schema | string[]>)) {
      if (!has(visit, name)) continue;
      if (Array.isArray(entry)) requireAll(entry, visit, `is required when ${JSON.stringify(name)} is given`);
      else visit.join(entry as Schema);
    }
  },
  properties: (schemas, visit) => {
    for (const [name, schema] of Object.entries(schemas as SchemaMap))
      if (has(visit, name)) visit.descend(schema, name);
  },
  patternProperties: (schemas, visit) => {
    for (const [pattern, schema] of Object.entries(schemas as SchemaMap)) {
      for (const name of namesOf(visit)) if (isMatch(pattern, name, visit)) visit.descend(schema, name);
    }
  },
  additionalProperties: (schema, visit) => {
    for (const name of namesOf(visit)) if (!isDeclared(name, visit)) descendOrRefuse(schema as Schema, visit, name);
  },
  propertyNames: (schema, visit) => {
    for (const name of namesOf(visit)) {
      const [finding] = visit.probeName(schema as Schema, name).findings;
      if (finding !== undefined) visit.fail(`is not an allowed name: ${finding.message}`, name);
    }
  },
  prefixItems: (schemas, visit) => {
    const count = Math.min((schemas as Schema[]).length, itemsOf(visit).length);
    for (let index = 0; index < count; index++) visit.descend((schemas as Schema[])[index] ?? true, index);
  },
  items: (schema, visit) => {
    if (Array.isArray(schema)) return applicators['prefixItems']?.(schema, visit);
    const prefix = visit.schema['prefixItems'];
    itemsFrom(Array.isArray(prefix) ? prefix.length : 0, schema as Schema, visit);
  },
  additionalItems: (schema, visit) => {
    const tuple = visit.schema['items'];
    if (Array.isArray(tuple)) itemsFrom(tuple.length, schema as Schema, visit);
  },
  contains: (schema, visit) => {
    if (!Array.isArray(visit.value)) return;
    const found = [...visit.value.keys()].filter((index) => visit.probeChild(schema as Schema, index).valid);
    for (const index of found) visit.markEvaluated(index);
    const least = visit.compiled.draft7 ? 1 : ((visit.schema['minContains'] as number | undefined) ?? 1);
    const most = (visit.schema['maxContains'] as number | undefined) ?? Number.POSITIVE_INFINITY;
    if (found.length < least) visit.fail(`must contain at least ${least} items that fit the schema in contains`);
    if (found.length > most) visit.fail(`must contain at most ${most} items that fit the schema in contains`);
  },
};

/** Keywords that ask what all others have judged, so they come last. */
export const finishers: Readonly<Record<string, Keyword>> = {
  unevaluatedItems: (schema, visit) => {
    const count = itemsOf(visit).length;
    visit.work.spend(count * schemaPrices.entry);
    for (let index = 0; index < count; index++) {
      if (!visit.evaluated.has(index)) descendOrRefuse(schema as Schema, visit, index);
    }
  },
  unevaluatedProperties: (schema, visit) => {
    for (const name of namesOf(visit)) if (!visit.evaluated.has(name)) descendOrRefuse(schema as Schema, visit, name);
  },
};

function descendOrRefuse(schema: Schema, visit: SchemaVisit, key: string | number): void {
  if (schema === false) visit.fail('is not allowed here; leave it out, or declare it in the schema', key);
  else visit.descend(schema, key);
}

function itemsFrom(start: number, schema: Schema, visit: SchemaVisit): void {
  for (let index = start; index < itemsOf(visit).length; index++) descendOrRefuse(schema, visit, index);
}

function isDeclared(name: string, visit: SchemaVisit): boolean {
  const { properties, patternProperties } = visit.schema;
  if (isJsonObject(properties) && Object.hasOwn(properties, name)) return true;
  return (
    isJsonObject(patternProperties) && Object.keys(patternProperties).some((pattern) => isMatch(pattern, name, visit))
  );
}

function has(visit: SchemaVisit, name: string): boolean {
  visit.work.spend(schemaPrices.key);
  return isJsonObject(visit.value) && Object.hasOwn(visit.value, name);
}

function namesOf(visit: SchemaVisit): readonly string[] {
  if (!isJsonObject(visit.value)) return [];
  const names = visit.work.keysOf(visit.value);
  visit.work.spend(names.length * schemaPrices.entry);
  return names;
}

function itemsOf(visit: SchemaVisit): readonly unknown[] {
  return Array.isArray(visit.value) ? (visit.value as unknown[]) : [];
}
