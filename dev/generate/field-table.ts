import type { SourceSchema } from '../../crds/source-schema.ts';

/** One field of a reference page. */
interface FieldRow {
  readonly path: string;
  readonly type: string;
  readonly required: boolean;
  readonly notes: string;
}

/** A markdown table of all fields below a schema; unions are left to sections of their own. */
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
    return [row, ...fieldRows(...inner(field, path))];
  });
}

/** The schema whose fields are listed under a field, and the path that they hang on. */
function inner(field: SourceSchema, path: string): [SourceSchema, string] {
  if (field.items) return [field.items, `${path}[]`];
  const values = field.additionalProperties;
  if (values) return [values, `${path}.<key>`];
  return [field, path];
}

function typeOf(field: SourceSchema): string {
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
