import { errorAt, type Place, type Problem } from '../../crds/problem.ts';
import { heapBytes } from '../heap-bytes.ts';
import { isTooDeep } from '../nesting.ts';
import { schemaLimits } from './limits.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Bytes of heap that the `input_schema` of a registered tool may take, in each process that caches the tool. */
export const registeredSchemaBytes = 512 * 1024;

/** In caches it takes the place of a schema that is too large. No argument fits it, and no check accepts it. */
const leftOut: Schema = { type: 'object', not: {}, $comment: 'windlass.dev/left-out' };

/** In caches it takes the place of a schema that is read when a call or a list needs it. */
const keptApart: Schema = { type: 'object', $comment: 'windlass.dev/kept-apart' };

/** Bytes of heap of a schema that stays in caches: most have less, and a quota of 1,000 tools takes 4 MiB of each. */
const cachedSchemaBytes = 4 * 1024;

/** The schema that a cache keeps: itself where it is small. Every object with another one is read in full for its schema. */
export const cachedSchema = (schema: Schema): Schema =>
  heapBytes(schema, cachedSchemaBytes) < cachedSchemaBytes ? schema : keptApart;

/** Whether the cache has the schema of an object elsewhere. */
export const isKeptApart = (schema: Schema): boolean => schema['$comment'] === keptApart['$comment'];

/**
 * The schema that calls and lists use. The API server cannot measure free JSON (1 MiB of `{}` takes 14 MiB of heap).
 * Some dozens of objects would fill the memory of each process that caches them. Nor does it bound the levels.
 */
export const keptSchema = <T extends Schema>(schema: T): T | typeof leftOut =>
  isLarge(schema) || isDeep(schema) ? leftOut : schema;

/** The problem of a schema that `keptSchema` leaves out. */
export function largeSchemaProblems(schema: Schema, at: Place): readonly Problem[] {
  if (isDeep(schema)) return [errorAt(at, 'depth', `is nested deeper than ${schemaLimits.depth} levels`)];
  if (schema['$comment'] !== leftOut['$comment'] && !isLarge(schema)) return [];
  const message = `takes more than ${registeredSchemaBytes} bytes of memory; declare fewer fields`;
  return [errorAt(at, 'too_large', message)];
}

const isLarge = (schema: Schema): boolean => heapBytes(schema, registeredSchemaBytes) >= registeredSchemaBytes;

/** A process that writes one of some thousand levels as JSON overflows its stack. */
const isDeep = (schema: Schema): boolean => isTooDeep(schema, schemaLimits.depth + 1);
