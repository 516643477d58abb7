import { pointerKeys } from '../crds/json-pointer.ts';
import { limits } from '../crds/limits.ts';
import { isJsonObject } from './json-object.ts';
import { NestedTooDeep, tooDeep } from './nesting.ts';
import { parseJson } from './work/parse-json.ts';
import { Work } from './work/work.ts';

/** A text turned into the value that its schema wants, or left as it was, with the reason. */
interface Coerced {
  readonly value: unknown;
  /** Why the text was left as it is. */
  readonly warning?: string;
}

type Attempt = (text: string, work: Work) => { readonly value: unknown } | undefined;

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** From the narrowest to the widest, so that a list of types gives the most telling value. */
const attempts: ReadonlyMap<string, Attempt> = new Map<string, Attempt>([
  ['null', (text) => (text === 'null' || text === '' ? { value: null } : undefined)],
  ['boolean', (text) => (text === 'true' || text === 'false' ? { value: text === 'true' } : undefined)],
  ['integer', (text) => numberOf(text, Number.isSafeInteger)],
  ['number', (text) => numberOf(text, isExact)],
  ['object', (text, work) => jsonOf(text, work, isJsonObject)],
  ['array', (text, work) => jsonOf(text, work, Array.isArray)],
]);

/**
 * Gives a rendered text the type of its schema (WF-API-03, requirements AMB-073 and AMB-165). Without a type in the
 * schema it becomes what it is as JSON, or stays text where it is not JSON. A value that cannot be converted stays
 * text, with a warning. So does an integer beyond 2^53, which would lose digits, and JSON that would nest the output
 * too deep. Nothing inside objects and lists is converted. @throws WorkBudgetExceeded
 */
export function coerce(text: string, schema: unknown, work: Work = new Work()): Coerced {
  try {
    return coerceWithin(text, schema, work);
  } catch (error) {
    if (error instanceof NestedTooDeep) return { value: text, warning: `${tooDeep}; left as text` };
    throw error;
  }
}

function coerceWithin(text: string, schema: unknown, work: Work): Coerced {
  const { type, allowed } = wanted(schema);
  const trimmed = text.trim();
  if (allowed !== undefined) {
    const found = allowed.find((value) => (typeof value === 'string' ? value === text : String(value) === trimmed));
    if (found !== undefined) return { value: found };
  }
  if (type.length === 0) return guess(text, trimmed, work);
  for (const [name, attempt] of attempts) {
    const result = type.includes(name) ? attempt(trimmed, work) : undefined;
    if (result !== undefined) return result;
  }
  if (type.includes('string')) return { value: text };
  return { value: text, warning: `is not of type ${type.join(' or ')}; left as text` };
}

/** A value for each text, by the schema of the property of that name, and the warnings by name. */
export function coerceAll(
  texts: Readonly<Record<string, string>>,
  outputSchema: unknown,
  work?: Work,
): { readonly output: Record<string, unknown>; readonly warnings: readonly string[] } {
  const properties = objectOf(objectOf(outputSchema)['properties']);
  const results = Object.entries(texts).map(([name, text]) => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    return [name, coerce(text, follow(schema, outputSchema), work)] as const;
  });
  return {
    output: Object.fromEntries(results.map(([name, { value }]) => [name, value])),
    warnings: results.flatMap(([name, { warning }]) => (warning === undefined ? [] : [`${name} ${warning}`])),
  };
}

function guess(text: string, trimmed: string, work: Work): Coerced {
  if (number.test(trimmed) && numberOf(trimmed, isExact) === undefined) {
    return { value: text, warning: 'is a number that would lose digits; left as text' };
  }
  return jsonOf(trimmed, work, () => true) ?? { value: text };
}

/** Types and values that a schema names. */
function wanted(schema: unknown): { readonly type: readonly unknown[]; readonly allowed?: readonly unknown[] } {
  const found = objectOf(schema);
  const type = found['type'] === undefined ? [] : [found['type']].flat();
  if (Object.hasOwn(found, 'const')) return { type, allowed: [found['const']] };
  return Array.isArray(found['enum']) ? { type, allowed: found['enum'] as unknown[] } : { type };
}

/** A property's schema is often a reference into `$defs`; one step is followed, as deep as authors go. */
function follow(schema: unknown, root: unknown): unknown {
  const ref = objectOf(schema)['$ref'];
  if (typeof ref !== 'string' || !ref.startsWith('#/')) return schema;
  return pointerKeys(ref).reduce((at: unknown, key) => objectOf(at)[key], root);
}

function numberOf(text: string, isFine: (value: number) => boolean): { readonly value: number } | undefined {
  if (!number.test(text)) return undefined;
  const value = Number(text);
  return isFine(value) ? { value } : undefined;
}

/** Fractions are rounded as everywhere in JSON; integers must survive digit by digit. */
function isExact(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

/** The output around it is one level. */
const levels = limits.jsonDepth - 1;

function jsonOf(
  text: string,
  work: Work,
  isFine: (value: unknown) => boolean,
): { readonly value: unknown } | undefined {
  const found = parseJson(text, work, levels);
  return found !== undefined && isFine(found.value) ? found : undefined;
}

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return isJsonObject(value) ? value : {};
}
