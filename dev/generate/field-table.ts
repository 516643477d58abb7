import type { SourceSchema } from '../../crds/source-schema.ts';

/** One field of a reference page. */
interface FieldRow {
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  readonly notes: string;
}

/** A markdown table of all fields below a schema; unions of list items and map values are left to sections of their own. */
export function fieldTable(schema: SourceSchema, base = ''): string {
  const rows = fieldRows(schema, base);
  if (rows.length === 0) return '';
  const lines = rows.map(
    ({ path, type, required, notes }) => `| \`${path}\` | ${type} | ${required ? 'yes' : 'no'} | ${cell(notes)} |`,
  );
  return ['| Field | Type | Required | Notes |', '|---|---|---|---|', ...lines].join('\n');
}

function fieldRows(schema: SourceSchema, base: string): FieldRow[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = base === '' ? name : `${base}.${name}`;
    const row = {
      path,
      type: typeOf(field),
      required: schema.required?.includes(name) ?? false,
      notes: notesOf(field),
    };
    return [row, ...(isByKind(field) ? kindRows(field.anyOf, path) : fieldRows(...inner(field, path)))];
  });
}

type ByKind = SourceSchema & { readonly anyOf: readonly SourceSchema[] };

const kindOf = (variant: SourceSchema) => variant.properties?.['kind']?.enum?.[0];

/** Whether a field holds one of several objects, each with a `kind` of its own. */
const isByKind = (field: SourceSchema): field is ByKind =>
  field.anyOf !== undefined && field.anyOf.every((variant) => kindOf(variant) !== undefined);

/** One row for `kind`, and one for each other field, with the kinds that have it. */
function kindRows(variants: readonly SourceSchema[], base: string): FieldRow[] {
  const kinds = variants.map((variant) => `\`${String(kindOf(variant))}\``);
  const rows = variants.flatMap((variant, index) =>
    fieldRows(variant, base).map((row) => ({ ...row, kind: kinds[index] ?? '' })),
  );
  const paths = [...new Set(rows.map(({ path }) => path))].filter((path) => path !== `${base}.kind`);
  const others = paths.flatMap((path): FieldRow[] => {
    const same = rows.filter((row) => row.path === path);
    const [first] = same;
    return first === undefined
      ? []
      : [{ ...first, notes: `${first.notes} Kinds: ${same.map(({ kind }) => kind).join(', ')}.` }];
  });
  return [{ path: `${base}.kind`, type: kinds.join(', '), required: true, notes: '' }, ...others];
}

/** The schema whose fields are listed under a field, and the path that they hang on. */
function inner(field: SourceSchema, path: string): [SourceSchema, string] {
  if (field.items) return [field.items, `${path}[]`];
  const values = field.additionalProperties;
  if (values) return [values, `${path}.<key>`];
  return [field, path];
}

function typeOf(field: SourceSchema): string {
  if (isByKind(field)) return 'object';
  if (field.enum) return field.enum.map((value) => `\`${value}\``).join(', ');
  if (field.items) return `list of ${plural(field.items)}`;
  if (field.additionalProperties) return `map of ${plural(field.additionalProperties)}`;
  if (field['x-kubernetes-preserve-unknown-fields']) return field.type === 'object' ? 'any object' : 'any value';
  return field.format === 'date-time' ? 'time (RFC 3339)' : (field.type ?? 'any value');
}

function plural(schema: SourceSchema): string {
  if (schema.anyOf) return 'states';
  if (schema['x-kubernetes-preserve-unknown-fields']) return 'any values';
  return `${schema.type ?? 'value'}s`;
}

function notesOf(field: SourceSchema): string {
  const notes = [
    field.description,
    field.default === undefined ? undefined : `Default: \`${String(field.default)}\`.`,
    bounds(field.minimum, field.maximum, ''),
    bounds(field.minLength, field.maxLength, ' characters'),
    bounds(field.minItems, field.maxItems, ' items'),
    bounds(field.minProperties, field.maxProperties, ' entries'),
    field.pattern === undefined || field.pattern.length > readablePattern
      ? undefined
      : `Pattern: \`${field.pattern}\`.`,
  ];
  return notes.filter((note) => note !== undefined).join(' ');
}

/** A longer pattern tells a reader less than the description of its field. */
const readablePattern = 300;

function bounds(least: number | undefined, most: number | undefined, unit: string): string | undefined {
  if (least === undefined && most === undefined) return undefined;
  if (least === undefined) return `At most ${most}${unit}.`;
  if (most === undefined) return `At least ${least}${unit}.`;
  return `${least} to ${most}${unit}.`;
}

/** Text escaped for a cell of a markdown table. */
export const cell = (text: string): string => text.replaceAll('|', String.raw`\|`).replaceAll('\n', ' ');
