/** The parts of a JSON Schema (draft 2020-12) that a TypeScript type is made of. */
export interface ClientSchema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly ClientSchema[];
  readonly oneOf?: readonly ClientSchema[];
  readonly allOf?: readonly ClientSchema[];
  readonly properties?: Readonly<Record<string, ClientSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | ClientSchema;
  readonly patternProperties?: Readonly<Record<string, ClientSchema>>;
  readonly items?: ClientSchema;
  /** The value of a JSON text. */
  readonly contentSchema?: ClientSchema;
  readonly description?: string;
  readonly deprecated?: boolean;
}

const componentPrefix = '#/components/schemas/';

/** Keywords that would make the type another one, and that no schema of the project uses. */
const unknownKeywords = [
  'prefixItems',
  'not',
  'if',
  'dependentSchemas',
  'dependentRequired',
  'unevaluatedProperties',
  'unevaluatedItems',
  '$dynamicRef',
  '$defs',
];

/**
 * The TypeScript type of the values that fit a schema. Constraints that no type expresses (patterns, bounds, formats)
 * are left to the server. Throws for a schema whose type would be wrong, rather than to emit `unknown` in silence.
 */
export function schemaType(schema: ClientSchema): string {
  const foreign = unknownKeywords.find((keyword) => Object.hasOwn(schema, keyword));
  if (foreign !== undefined) throw new Error(`no TypeScript type is known for the keyword ${foreign}`);
  if (schema.$ref !== undefined) return refName(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)));
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined) return union(alternatives.map(schemaType));
  if (schema.allOf !== undefined) return schema.allOf.map((part) => bracketed(schemaType(part))).join(' & ');
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? impliedTypes(schema));
  return types.length === 0 ? 'unknown' : union(types.map((type) => typeNamed(type, schema)));
}

const commentColumns = 110;

/** A description as a comment before what it describes, or nothing. */
export function docComment(text: string | undefined): string {
  if (text === undefined || text.trim() === '') return '';
  const lines = text.trim().replaceAll('*/', '*\\/').split('\n').flatMap(wrapped);
  if (lines.length === 1) return `/** ${lines[0]} */\n`;
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}

/** Broken at blanks; the further lines of a list's item are below its text. */
function wrapped(line: string): string[] {
  const lines: string[] = [];
  const margin = line.startsWith('- ') ? '  ' : '';
  for (const word of line.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < commentColumns) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(last === undefined ? word : margin + word);
  }
  return lines;
}

/** A property's name as it must be written in a type. */
export function propertyName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
}

function refName(ref: string): string {
  if (!ref.startsWith(componentPrefix)) throw new Error(`${ref} is no component of the document`);
  return ref.slice(componentPrefix.length);
}

function impliedTypes(schema: ClientSchema): readonly string[] {
  if (schema.properties !== undefined || schema.patternProperties !== undefined) return ['object'];
  return schema.items === undefined ? [] : ['array'];
}

function typeNamed(type: string, schema: ClientSchema): string {
  if (type === 'object') return objectType(schema);
  if (type === 'array') return `readonly ${bracketed(schemaType(schema.items ?? {}))}[]`;
  if (type === 'integer') return 'number';
  if (['string', 'number', 'boolean', 'null'].includes(type)) return type;
  throw new Error(`no TypeScript type is known for the type ${type}`);
}

function objectType(schema: ClientSchema): string {
  const required = new Set(schema.required ?? []);
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const optional = required.has(name) ? '' : '?';
    return `${docComment(property.description)}readonly ${propertyName(name)}${optional}: ${schemaType(property)};\n`;
  });
  const others = otherProperties(schema);
  if (properties.length === 0) return `Readonly<Record<string, ${others ?? 'never'}>>`;
  const named = `{\n${properties.join('')}}`;
  return others === undefined ? named : `${named} & Readonly<Record<string, ${others}>>`;
}

/** The type of values under keys that the schema does not name; undefined where there are none. */
function otherProperties({ properties, additionalProperties, patternProperties }: ClientSchema): string | undefined {
  const patterns = Object.values(patternProperties ?? {}).map(schemaType);
  if (patterns.length > 0) return properties === undefined ? union(patterns) : 'unknown';
  if (typeof additionalProperties === 'object') {
    return properties === undefined ? schemaType(additionalProperties) : 'unknown';
  }
  return additionalProperties === false || properties !== undefined ? undefined : 'unknown';
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ');
}

function bracketed(type: string): string {
  return /^[\w$.]+$/.test(type) || /^Readonly<[^<>|&]*>$/.test(type) ? type : `(${type})`;
}
