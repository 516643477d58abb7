import { isJsonObject } from '../json-object.ts';
import type { KeywordShape } from './keywords.ts';
import { typeNames } from './keywords.ts';
import { schemaLimits } from './limits.ts';

type ShapeTest = readonly [wanted: string, test: (value: unknown) => boolean];

const isNames = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length <= schemaLimits.listEntries &&
  value.every((name) => typeof name === 'string') &&
  new Set(value).size === value.length;
const isSchema = (value: unknown): boolean => typeof value === 'boolean' || isJsonObject(value);
const isSchemas = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every(isSchema);
const isSchemaMap = (value: unknown): boolean => isJsonObject(value) && Object.values(value).every(isSchema);
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isType = (value: unknown): boolean =>
  typeNames.has(value) ||
  (isNames(value) && (value as unknown[]).length > 0 && (value as unknown[]).every((name) => typeNames.has(name)));

/** For each shape of a keyword's value: what to write, and whether it is that. Names only the outermost layer. */
export const shapeTests: Readonly<Record<KeywordShape, ShapeTest>> = {
  schema: ['a schema (an object, true or false)', isSchema],
  schemas: ['a list of schemas, not empty', isSchemas],
  schemaOrSchemas: ['a schema or a list of schemas', (value) => isSchema(value) || isSchemas(value)],
  schemaMap: ['an object of schemas', isSchemaMap],
  patternMap: ['an object of schemas', isSchemaMap],
  dependencies: [
    'an object of schemas or lists of names',
    (value) => isJsonObject(value) && Object.values(value).every((entry) => isSchema(entry) || isNames(entry)),
  ],
  nameLists: [
    'an object of lists of names',
    (value) => isJsonObject(value) && Object.values(value).every((entry) => isNames(entry)),
  ],
  names: [`a list of at most ${schemaLimits.listEntries} different names`, isNames],
  values: [
    `a list of 1 to ${schemaLimits.listEntries} values`,
    (value) => Array.isArray(value) && value.length > 0 && value.length <= schemaLimits.listEntries,
  ],
  type: ['one or more of string, number, integer, boolean, object, array, null', isType],
  count: ['an integer, zero or more', (value) => Number.isSafeInteger(value) && Number(value) >= 0],
  number: ['a number', isNumber],
  positive: ['a number above zero', (value) => isNumber(value) && Number(value) > 0],
  boolean: ['true or false', (value) => typeof value === 'boolean'],
  text: ['a string', (value) => typeof value === 'string'],
  pattern: ['a string', (value) => typeof value === 'string'],
  any: ['any value', () => true],
};
