import { isDeepStrictEqual } from 'node:util';
import { celList } from './rules/cel-text.ts';
import type { CelRule } from './schema/parts.ts';
import type { StructuralSchema } from './structural-schema.ts';

/** One member of a discriminated union, already lowered. */
interface Variant {
  readonly kind: string;
  readonly schema: StructuralSchema;
}

interface Merged {
  readonly schema: StructuralSchema;
  readonly rules: readonly CelRule[];
}

/**
 * One flat object for all variants, and the CEL rules that give each variant its own fields back:
 * required fields, fields of other variants, and the variants' own rules.
 */
export function mergeVariants(tag: string, variants: readonly Variant[]): Merged {
  const kinds = variants.map((variant) => variant.kind);
  const required = inAll(variants.map((variant) => variant.schema.required ?? []));
  const fields = [...new Set(variants.flatMap((variant) => Object.keys(variant.schema.properties ?? {})))];
  const merged = fields
    .filter((field) => field !== tag)
    .map((field) => ({ field, ...mergeField(tag, field, ownersOf(field, variants)) }));
  return {
    schema: {
      type: 'object',
      required,
      properties: {
        [tag]: { type: 'string', enum: kinds, ...joinDescriptions(variants) },
        ...Object.fromEntries(merged.map(({ field, schema }) => [field, schema])),
      },
    },
    rules: [
      ...merged.flatMap(({ field, schema }) => (isOpaque(schema) ? [] : presence(tag, field, variants))),
      ...merged.flatMap(({ rules }) => rules),
      ...variants.flatMap((variant) => ownRules(tag, variant)),
    ],
  };
}

/** CEL in a definition cannot read a field without a type; an admission policy checks those instead. */
const isOpaque = (schema: StructuralSchema): boolean => schema.type === undefined;

const ownersOf = (field: string, variants: readonly Variant[]): Variant[] =>
  variants.flatMap(({ kind, schema }) => {
    const property = schema.properties?.[field];
    return property === undefined ? [] : [{ kind, schema: property }];
  });

const inAll = (lists: readonly (readonly string[])[]): string[] =>
  (lists[0] ?? []).filter((name) => lists.every((list) => list.includes(name)));

/** Says which kinds must have a field and which must not. */
function presence(tag: string, field: string, variants: readonly Variant[]): CelRule[] {
  const owners = ownersOf(field, variants).map((owner) => owner.kind);
  const needing = variants.filter((variant) => variant.schema.required?.includes(field)).map((variant) => variant.kind);
  return [
    ...(needing.length === 0 || needing.length === variants.length ? [] : [required(tag, field, needing)]),
    ...(owners.length === variants.length ? [] : [forbidden(tag, field, owners)]),
  ];
}

const required = (tag: string, field: string, kinds: readonly string[]): CelRule => ({
  rule: `!(self.${tag} in ${celList(kinds)}) || has(self.${field})`,
  message: `${field} is required for ${tag} ${kinds.join(', ')}`,
  messageExpression: `'${field} is required for ${tag} ' + self.${tag}`,
  fieldPath: `.${field}`,
  reason: 'FieldValueRequired',
});

const forbidden = (tag: string, field: string, kinds: readonly string[]): CelRule => ({
  rule: `!has(self.${field}) || self.${tag} in ${celList(kinds)}`,
  message: `${field} is only for ${tag} ${kinds.join(', ')}`,
  messageExpression: `'${field} does not apply to ${tag} ' + self.${tag} + '; it is for ${kinds.join(', ')}'`,
  fieldPath: `.${field}`,
  reason: 'FieldValueForbidden',
});

const ownRules = (tag: string, { kind, schema }: Variant): CelRule[] =>
  (schema['x-kubernetes-validations'] ?? []).map((rule) => ({
    ...rule,
    rule: `self.${tag} != '${kind}' || (${rule.rule})`,
  }));

/** A field that several variants share: equal schemas stay, lists of objects merge, other differences lose the type. */
function mergeField(tag: string, field: string, owners: readonly Variant[]): Merged {
  const [first, ...others] = owners;
  if (first === undefined) throw new TypeError(`no variant has the field ${field}`);
  if (others.every((other) => isDeepStrictEqual(bare(other.schema), bare(first.schema)))) {
    return { schema: { ...first.schema, ...joinDescriptions(owners) }, rules: [] };
  }
  if (owners.every((owner) => owner.schema.items?.properties)) return mergeLists(tag, field, owners);
  return {
    schema: { ...joinDescriptions(owners), 'x-kubernetes-preserve-unknown-fields': true },
    rules: [],
  };
}

const bare = (schema: StructuralSchema): StructuralSchema => ({ ...schema, description: undefined });

function joinDescriptions(owners: readonly Variant[]): { description?: string } {
  const texts = new Map<string, string[]>();
  for (const { kind, schema } of owners) {
    if (schema.description) texts.set(schema.description, [...(texts.get(schema.description) ?? []), kind]);
  }
  if (texts.size === 0) return {};
  if (texts.size === 1) return { description: [...texts.keys()][0] };
  return { description: [...texts].map(([text, kinds]) => `${kinds.join(', ')}: ${text}`).join(' ') };
}

function mergeLists(tag: string, field: string, owners: readonly Variant[]): Merged {
  const [first] = owners;
  if (owners.some((owner) => owner.schema.items?.['x-kubernetes-validations'])) {
    throw new TypeError(`items of ${field} differ between kinds and have rules of their own`);
  }
  const items = owners.map(({ kind, schema }) => ({ kind, schema: schema.items ?? {} }));
  const required = inAll(items.map((item) => item.schema.required ?? []));
  const names = [...new Set(items.flatMap((item) => Object.keys(item.schema.properties ?? {})))];
  const properties = Object.fromEntries(
    names.map((name) => [name, mergeField(tag, name, ownersOf(name, items)).schema]),
  );
  return {
    schema: {
      ...(first && bare(first.schema)),
      ...joinDescriptions(owners),
      items: { type: 'object', required, properties },
    },
    rules: names.flatMap((name) => itemPresence(tag, { field, name, items, isShared: required.includes(name) })),
  };
}

interface ItemField {
  readonly field: string;
  readonly name: string;
  readonly items: readonly Variant[];
  readonly isShared: boolean;
}

function itemPresence(tag: string, { field, name, items, isShared }: ItemField): CelRule[] {
  const needing = items.filter((item) => item.schema.required?.includes(name)).map((item) => item.kind);
  const strange = items.filter((item) => !item.schema.properties?.[name]).map((item) => item.kind);
  const when = (kinds: readonly string[]) => `!(self.${tag} in ${celList(kinds)}) || !has(self.${field})`;
  return [
    ...(needing.length === 0 || isShared
      ? []
      : [
          {
            rule: `${when(needing)} || self.${field}.all(v, has(v.${name}))`,
            message: `${field}[].${name} is required for ${tag} ${needing.join(', ')}`,
            fieldPath: `.${field}`,
            reason: 'FieldValueRequired' as const,
          },
        ]),
    ...(strange.length === 0
      ? []
      : [
          {
            rule: `${when(strange)} || !self.${field}.exists(v, has(v.${name}))`,
            message: `${field}[].${name} does not apply to ${tag} ${strange.join(', ')}`,
            fieldPath: `.${field}`,
            reason: 'FieldValueForbidden' as const,
          },
        ]),
  ];
}
