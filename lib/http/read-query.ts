import type { TObject, TSchema } from 'typebox';
import type { RequestProblem } from './http-error.ts';
import { invalidRequest } from './request-errors.ts';

/** The keywords of a parameter's schema that decide how its text is read. */
interface Parameter {
  readonly type?: string;
  readonly default?: unknown;
}

/**
 * The query's parameters, text turned into the type of their schema. Throws HttpError that names each one that is
 * unknown, repeated or badly encoded. What the schema says about values is not checked here.
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
    else if (Object.hasOwn(values, name)) problems.push({ path, message: 'is given twice' });
    else values[name] = readText(text, property);
  }
  if (problems.length > 0) throw invalidRequest('the query parameters are not valid', problems);
  return withDefaults(values, properties);
}

/** Each parameter's default where it is absent. */
export function withDefaults(
  values: Record<string, unknown>,
  properties: Readonly<Record<string, TSchema>>,
): Record<string, unknown> {
  for (const [name, property] of Object.entries(properties)) {
    const { default: fallback } = property as Parameter;
    if (fallback !== undefined && !Object.hasOwn(values, name)) values[name] = fallback;
  }
  return values;
}

/** Text as the type of its schema; text that is none of that type stays text and fails the validation. */
export function readText(text: string, property: TSchema): unknown {
  const { type } = property as Parameter;
  if (type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text;
  if (type !== 'integer' && type !== 'number') return text;
  return /^-?\d{1,15}$/.test(text) ? Number(text) : text;
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
