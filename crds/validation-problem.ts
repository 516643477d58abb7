import type { ErrorObject } from 'ajv/dist/2020.js';
import { pointerKeys } from './json-pointer.ts';
import { patternText } from './pattern-text.ts';
import { errorAt, type Place, type Problem } from './problem.ts';
import { meantBy } from './similar-name.ts';
import { variantsOf } from './union-errors.ts';

/** An ajv error in this project's words. `at` is the place of the value, or of the missing or unknown field. */
interface Finding {
  readonly at: Place;
  readonly rule: string;
  readonly message: string;
}

type Explain = (error: ErrorObject, at: Place) => Finding;

/** An ajv error as a problem. Walking the value distinguishes indexes from keys. */
export function toProblem(error: ErrorObject, value: unknown, base: Place): Problem {
  const place = [...base, ...placeOf(error.instancePath, value)];
  const explain = explanations[error.keyword] ?? unexplained;
  const { at, rule, message } = explain(error, place);
  return errorAt(at, rule, message);
}

function placeOf(pointer: string, value: unknown): Place {
  let current = value;
  return pointerKeys(pointer).map((key) => {
    const isIndex = Array.isArray(current);
    current = (current as Record<string, unknown> | undefined)?.[key];
    return isIndex ? Number(key) : key;
  });
}

/** A parameter of an ajv error; their names differ by keyword. */
const param = (error: ErrorObject, name: string): unknown => (error.params as Record<string, unknown>)[name];

const unexplained: Explain = (error, at) => ({ at, rule: error.keyword, message: error.message ?? 'is invalid' });

const explanations: Readonly<Record<string, Explain>> = {
  required: (error, at) => ({
    at: [...at, String(param(error, 'missingProperty'))],
    rule: 'required',
    message: 'is required',
  }),
  additionalProperties: (error, at) => unknownField(String(param(error, 'additionalProperty')), error, at),
  enum: (error, at) => {
    const allowed = param(error, 'allowedValues');
    const isOnly = Array.isArray(allowed) && allowed.length === 1;
    const hint = isOnly ? '' : hintOf(error.data, allowed);
    return { at, rule: 'enum', message: `must be ${oneOfList(allowed)}${hint}` };
  },
  discriminator: (error, at) => wrongTag(error, at),
  anyOf: (error, at) => {
    const kinds = `must be ${variantsOf(error).map(variantText).join(', or ')}, not ${describe(error.data)}`;
    return { at, rule: 'type', message: `${kinds}${hintOf(error.data, variantsOf(error).flatMap(wordsOf))}` };
  },
  type: (error, at) => {
    const type = String(param(error, 'type'));
    const message = `must be ${withArticle(type)}, not ${describe(error.data)}${typeFix(type, error)}`;
    return { at, rule: 'type', message };
  },
  pattern: (error, at) => ({ at, rule: 'pattern', message: patternText(String(param(error, 'pattern'))) }),
  const: (error, at) => ({ at, rule: 'const', message: `must be ${JSON.stringify(param(error, 'allowedValue'))}` }),
  format: (error, at) => ({ at, rule: 'format', message: formatText(String(param(error, 'format'))) }),
  minimum: (error, at) => bound(error, at, 'at least'),
  maximum: (error, at) => bound(error, at, 'at most'),
  minLength: (error, at) => size(error, at, 'at least', 'character'),
  maxLength: (error, at) => size(error, at, 'at most', 'character'),
  minItems: (error, at) => size(error, at, 'at least', 'item'),
  maxItems: (error, at) => size(error, at, 'at most', 'item'),
  minProperties: (error, at) => choice(error, at) ?? size(error, at, 'at least', 'entry', 'entries'),
  maxProperties: (error, at) => choice(error, at) ?? size(error, at, 'at most', 'entry', 'entries'),
};

const bound = (error: ErrorObject, at: Place, words: string): Finding => ({
  at,
  rule: error.keyword,
  message: `must be ${words} ${String(param(error, 'limit'))}, not ${String(error.data)}`,
});

function size(error: ErrorObject, at: Place, ...words: readonly [string, string, string?]): Finding {
  const limit = Number(param(error, 'limit'));
  const [comparison, singular, plural = `${singular}s`] = words;
  return { at, rule: error.keyword, message: `must have ${comparison} ${limit} ${limit === 1 ? singular : plural}` };
}

function wrongTag(error: ErrorObject, at: Place): Finding {
  const tag = String(param(error, 'tag'));
  const variants = (error.parentSchema?.['oneOf'] ?? []) as { properties: Record<string, { enum: string[] }> }[];
  const kinds = variants.flatMap((variant) => variant.properties[tag]?.enum ?? []);
  const value = param(error, 'tagValue');
  const isMissing = value === undefined;
  return {
    at: [...at, tag],
    rule: isMissing ? 'required' : 'enum',
    message: `${isMissing ? 'is required and ' : ''}must be ${oneOfList(kinds)}${hintOf(value, kinds)}`,
  };
}

function unknownField(name: string, error: ErrorObject, at: Place): Finding {
  const known = namesOf(error);
  const isChoice = choice(error, at) !== undefined;
  const hint = hintOf(name, known) || (isChoice ? `; there are ${known.join(', ')}` : '');
  return { at: [...at, name], rule: 'unknown_field', message: `unknown field${hint}` };
}

const namesOf = ({ parentSchema }: ErrorObject): string[] =>
  Object.keys((parentSchema?.['properties'] ?? {}) as object);

/** A map that holds one of several fields; undefined for any other. */
function choice(error: ErrorObject, at: Place): Finding | undefined {
  const { minProperties: least, maxProperties: most } = (error.parentSchema ?? {}) as Readonly<Record<string, unknown>>;
  const names = namesOf(error);
  if (least !== 1 || most !== 1 || names.length === 0) return undefined;
  return { at, rule: error.keyword, message: `must have exactly one of ${names.join(', ')}` };
}

/** The probable meaning of a mistyped word, as the end of a sentence. */
function hintOf(written: unknown, allowed: unknown): string {
  if (typeof written !== 'string' || !Array.isArray(allowed)) return '';
  const words = allowed.filter((candidate) => typeof candidate === 'string');
  return meantBy(written, words) || ofFamily(written, words);
}

/** Most words that a hint lists. */
const wordsMeant = 3;

/** A few words that begin as the written one does up to its first underscore: `score_over` is one of `score_…`. */
function ofFamily(written: string, words: readonly string[]): string {
  const end = written.indexOf('_') + 1;
  const family = words.filter((word) => end > 0 && word.startsWith(written.slice(0, end)));
  if (family.length === 0 || family.length > wordsMeant) return '';
  const last = family.at(-1) ?? '';
  const others = family.slice(0, -1).join(', ');
  return `; did you mean ${others === '' ? last : `${others} or ${last}`}?`;
}

/** The way to mend a value of the wrong type, where there is one way, as the end of a sentence. */
function typeFix(type: string, { data, parentSchema }: ErrorObject): string {
  const pattern: unknown = parentSchema?.['pattern'];
  if (type === 'string') return typeof pattern === 'string' ? `; it ${patternText(pattern)}` : '';
  if (typeof data !== 'string') return '';
  if (type === 'array') return '; put its items between [ and ]';
  const isBare = /^(-?\d+(\.\d+)?|true|false)$/.test(data);
  return isBare && ['integer', 'number', 'boolean'].includes(type) ? '; leave out the quotes' : '';
}

const formatTexts: Readonly<Record<string, string>> = {
  'date-time': 'must be a date and time as 2026-01-31T12:00:00Z',
  uuid: 'must be a UUID, as 8e0bdc27-1f6c-4c28-9f1b-0d4e5c8a1b2c',
  uri: 'must be an absolute URI',
};

const formatText = (format: string): string => formatTexts[format] ?? `must be a ${format}`;

const oneOfList = (values: unknown): string => {
  const texts = (Array.isArray(values) ? values : []).map(String);
  return texts.length === 1 ? (texts[0] ?? '') : `one of ${texts.join(', ')}`;
};

const wordsOf = (schema: unknown): unknown[] => {
  const { enum: values } = schema as Readonly<Record<string, unknown>>;
  return Array.isArray(values) ? (values as unknown[]) : [];
};

/** One alternative of a union. */
function variantText(schema: unknown): string {
  const { enum: values, const: value, type, required } = schema as Readonly<Record<string, unknown>>;
  if (values !== undefined) return oneOfList(values);
  if (value !== undefined) return JSON.stringify(value);
  const names = Array.isArray(required) && required.length > 0 ? ` with ${required.join(' and ')}` : '';
  return `${withArticle(String(type))}${names}`;
}

const articles: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map',
  null: 'null',
};

const withArticle = (type: string): string => articles[type] ?? type;

function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map';
  return `the ${typeof value} ${JSON.stringify(value)}`;
}
