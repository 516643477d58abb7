import { isJsonObject } from '../json-object.ts';
import { shorten } from './compiled-schema.ts';
import { canonical } from './equal.ts';
import { schemaPrices } from './limits.ts';
import type { SchemaVisit } from './visit.ts';

type Keyword = (argument: unknown, visit: SchemaVisit) => void;

/** The problem at the place of a field that `required` names and that is missing. */
export const requiredMessage = 'is required';

/** Keywords that look at the value itself and apply no schema. They let values of other types pass. */
export const assertions: Readonly<Record<string, Keyword>> = {
  type: (wanted, visit) => {
    const names = (Array.isArray(wanted) ? wanted : [wanted]) as string[];
    if (names.some((name) => hasType(visit.value, name))) return;
    visit.fail(`must be ${names.join(' or ')}, not ${typeOf(visit.value)}`);
  },
  enum: (values, visit) => {
    const allowed = visit.compiled.allowed.get(values);
    if (allowed?.texts.has(canonicalOf(visit.value, visit)) === true) return;
    visit.fail(`must be one of ${allowed?.shown ?? 'nothing'}`);
  },
  const: (wanted, visit) => {
    const text = canonicalOf(wanted, visit);
    if (canonicalOf(visit.value, visit) !== text) visit.fail(`must be ${shorten(text)}`);
  },
  multipleOf: onNumber((value, divisor) =>
    isMultiple(value, divisor) ? undefined : `must be a multiple of ${divisor}`,
  ),
  maximum: onNumber((value, limit) => (value <= limit ? undefined : `must be at most ${limit}`)),
  exclusiveMaximum: onNumber((value, limit) => (value < limit ? undefined : `must be below ${limit}`)),
  minimum: onNumber((value, limit) => (value >= limit ? undefined : `must be at least ${limit}`)),
  exclusiveMinimum: onNumber((value, limit) => (value > limit ? undefined : `must be above ${limit}`)),
  maxLength: onText((length, limit) => (length <= limit ? undefined : `must have at most ${limit} characters`)),
  minLength: onText((length, limit) => (length >= limit ? undefined : `must have at least ${limit} characters`)),
  pattern: (source, visit) => {
    if (typeof visit.value !== 'string' || isMatch(source as string, visit.value, visit)) return;
    visit.fail(`must match the pattern ${String(source)}`);
  },
  maxItems: onList((count, limit) => (count <= limit ? undefined : `must have at most ${limit} items`)),
  minItems: onList((count, limit) => (count >= limit ? undefined : `must have at least ${limit} items`)),
  uniqueItems: (wanted, visit) => {
    if (wanted !== true || !Array.isArray(visit.value)) return;
    const seen = new Map<string, number>();
    for (const [index, item] of visit.value.entries()) {
      const text = canonicalOf(item, visit);
      const before = seen.get(text);
      if (before !== undefined) visit.fail(`is the same as item ${before}; items must differ`, index);
      else seen.set(text, index);
    }
  },
  maxProperties: onObject((count, limit) => (count <= limit ? undefined : `must have at most ${limit} properties`)),
  minProperties: onObject((count, limit) => (count >= limit ? undefined : `must have at least ${limit} properties`)),
  required: (names, visit) => requireAll(names as string[], visit, requiredMessage),
  dependentRequired: (lists, visit) => {
    if (!isJsonObject(visit.value)) return;
    for (const [name, names] of Object.entries(lists as Record<string, string[]>)) {
      visit.work.spend(schemaPrices.key);
      if (Object.hasOwn(visit.value, name))
        requireAll(names, visit, `is required when ${JSON.stringify(name)} is given`);
    }
  },
};

/** Whether a pattern is found in a text; paid for at the worst case of the engine. */
export function isMatch(source: string, text: string, visit: SchemaVisit): boolean {
  const pattern = visit.compiled.patterns.get(source);
  if (pattern === undefined) return false;
  visit.work.spend((text.length + 1) * pattern.programSize() * schemaPrices.patternStep);
  return pattern.test(text);
}

/** Notes each name that the value lacks. */
export function requireAll(names: readonly string[], visit: SchemaVisit, message: string): void {
  if (!isJsonObject(visit.value)) return;
  visit.work.spend(names.length * schemaPrices.entry);
  for (const name of names) if (!Object.hasOwn(visit.value, name)) visit.fail(message, name);
}

function canonicalOf(value: unknown, visit: SchemaVisit): string {
  return canonical(value, (units) => visit.work.spend(units));
}

type Judge = (value: number, limit: number) => string | undefined;

function onNumber(judge: Judge): Keyword {
  return (limit, visit) => {
    if (typeof visit.value === 'number') report(judge(visit.value, limit as number), visit);
  };
}

/** Lengths count Unicode code points. */
function onText(judge: Judge): Keyword {
  return (limit, visit) => {
    if (typeof visit.value !== 'string') return;
    visit.work.spend(visit.value.length * schemaPrices.character);
    report(judge(codePointsOf(visit.value), limit as number), visit);
  };
}

/** An iterator of code points makes a text of each, which takes ten times the processor time. */
function codePointsOf(text: string): number {
  let count = text.length;
  for (let at = 1; at < text.length; at++) {
    if (isSurrogate(text.charCodeAt(at), 0xdc00) && isSurrogate(text.charCodeAt(at - 1), 0xd800)) count -= 1;
  }
  return count;
}

const isSurrogate = (unit: number, first: number): boolean => unit >= first && unit < first + 0x400;

function onList(judge: Judge): Keyword {
  return (limit, visit) => {
    if (Array.isArray(visit.value)) report(judge(visit.value.length, limit as number), visit);
  };
}

function onObject(judge: Judge): Keyword {
  return (limit, visit) => {
    if (isJsonObject(visit.value)) report(judge(visit.work.keysOf(visit.value).length, limit as number), visit);
  };
}

function report(message: string | undefined, visit: SchemaVisit): void {
  if (message !== undefined) visit.fail(message);
}

function hasType(value: unknown, name: string): boolean {
  return name === 'integer' ? Number.isInteger(value) : typeOf(value) === name;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** 0.3 is a multiple of 0.1, although their quotient as binary fractions is not quite 3. */
function isMultiple(value: number, divisor: number): boolean {
  const quotient = value / divisor;
  return Math.abs(quotient - Math.round(quotient)) <= 1e-9 * Math.max(1, Math.abs(quotient));
}
