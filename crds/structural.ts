import { saysPattern } from './rules/pattern-rule.ts';
import type { CelRule } from './schema/parts.ts';
import type { SourceSchema } from './source-schema.ts';
import type { StructuralSchema } from './structural-schema.ts';
import { mergeVariants } from './structural-union.ts';

const copied = [
  'type',
  'format',
  'pattern',
  'enum',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'minProperties',
  'maxProperties',
  'required',
  'nullable',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-map-type',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
] as const satisfies readonly (keyof SourceSchema & keyof StructuralSchema)[];

/**
 * Lowers a schema to what a CustomResourceDefinition may hold. Closed objects need no keyword there, since the API
 * server prunes or refuses unknown fields itself. Defaults go to the description, so that a stored object stays what
 * its author wrote. A discriminated union becomes one flat object whose rules say which field belongs to which kind.
 */
export function toStructural(source: SourceSchema): StructuralSchema {
  if (source.anyOf) return lowerUnion(source);
  const { properties, additionalProperties, items } = source;
  const rules = source['x-kubernetes-validations'];
  return {
    ...described(source),
    ...Object.fromEntries(copied.flatMap((key) => (isLeftOut(source, key) ? [] : [[key, source[key]]]))),
    ...(holdsAnything(source) && { nullable: true }),
    ...(properties && { properties: lowerAll(properties) }),
    ...(additionalProperties && { additionalProperties: toStructural(additionalProperties) }),
    ...(items && { items: toStructural(items) }),
    ...(rules && rules.length > 0 && { 'x-kubernetes-validations': rules }),
  };
}

/** A pattern that a rule repeats in words is left to the rule. */
function isLeftOut(source: SourceSchema, key: (typeof copied)[number]): boolean {
  const { pattern, 'x-kubernetes-validations': rules = [] } = source;
  if (key === 'pattern' && pattern !== undefined && rules.some((rule) => saysPattern(rule, pattern))) return true;
  return source[key] === undefined;
}

const lowerAll = (properties: Readonly<Record<string, SourceSchema>>): Record<string, StructuralSchema> =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, toStructural(schema)]));

/** A field of any JSON value has no type and may be null. */
const holdsAnything = (source: SourceSchema): boolean =>
  source.type === undefined && source['x-kubernetes-preserve-unknown-fields'] === true;

function described(source: SourceSchema): { description?: string } {
  const parts = [
    ...(source.description === undefined ? [] : [source.description]),
    ...(source.default === undefined ? [] : [`Default: ${String(source.default)}.`]),
  ];
  return parts.length === 0 ? {} : { description: parts.join(' ') };
}

function lowerUnion(source: SourceSchema): StructuralSchema {
  const tag = source.discriminator?.propertyName;
  if (tag === undefined) throw new TypeError('a union needs a discriminator to become a structural schema');
  const variants = (source.anyOf ?? []).map((variant) => ({
    kind: kindOf(variant, tag),
    schema: toStructural(variant),
  }));
  const merged = mergeVariants(tag, variants);
  const rules: CelRule[] = [...(source['x-kubernetes-validations'] ?? []), ...merged.rules];
  return { ...described(source), ...merged.schema, 'x-kubernetes-validations': rules };
}

function kindOf(variant: SourceSchema, tag: string): string {
  const values = variant.properties?.[tag]?.enum ?? [];
  const [kind] = values;
  if (kind === undefined || values.length !== 1) throw new TypeError(`a variant needs exactly one value of ${tag}`);
  return kind;
}
