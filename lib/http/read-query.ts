import type { TObject, TSchema } from 'typebox';
import { typedText } from '../typed-text.ts';
import type { RequestProblem } from './http-error.ts';
import { invalidRequest } from './request-errors.ts';

/**
 * The query's parameters, text turned into the type of their schema. Throws HttpError that names each one that is
 * unknown, repeated though it is no list, or badly encoded. The schema's rules for values are not checked here.
 */
export function readQuery(query: string, schema: TObject | undefined): Record<string, unknown> {
  const properties: Readonly<Record<string, TSchema>> = schema?.properties ?? {};
  const values: Record<string, unknown> = {};
  const problems: RequestProblem[] = [];
  for (const pair of query === '' ? [] : query.split('&')) {
    const [name, text] = decodePair(pair);
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const path = `query.${name}`;
    if (property === undefined) problems.push({ path, message: unknownText(properties) });
    else if (isList(property)) addEntry(values, name, typedText(text, property.items));
    else if (Object.hasOwn(values, name)) problems.push({ path, message: 'is given twice' });
    else values[name] = typedText(text, property);
  }
  const [first] = problems;
  if (first !== undefined) throw invalidRequest(`${first.path} ${first.message}`, problems);
  return withDefaults(values, properties);
}

type ListSchema = TSchema & { readonly items: TSchema };

const isList = (schema: TSchema): schema is ListSchema => 'type' in schema && schema.type === 'array';

function addEntry(values: Record<string, unknown>, name: string, entry: unknown): void {
  const known = values[name];
  if (Array.isArray(known)) known.push(entry);
  else values[name] = [entry];
}

/** Each parameter's default where it is absent. */
export function withDefaults(
  values: Record<string, unknown>,
  properties: Readonly<Record<string, TSchema>>,
): Record<string, unknown> {
  for (const [name, property] of Object.entries(properties)) {
    const { default: fallback } = property as { readonly default?: unknown };
    if (fallback !== undefined && !Object.hasOwn(values, name)) values[name] = fallback;
  }
  return values;
}

function decodePair(pair: string): [string, string] {
  const equals = pair.indexOf('=');
  const name = equals < 0 ? pair : pair.slice(0, equals);
  return [decode(name), equals < 0 ? '' : decode(pair.slice(equals + 1))];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalidRequest('the query is not percent-encoded UTF-8');
  }
}

function unknownText(properties: Readonly<Record<string, TSchema>>): string {
  const names = Object.keys(properties);
  return names.length === 0 ? 'unknown parameter; there are none' : `unknown parameter; there are ${names.join(', ')}`;
}
