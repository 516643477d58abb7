import { errorAt, type Place, type Problem } from '../../crds/problem.ts';
import { heapBytes } from '../heap-bytes.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Bytes of heap that the `input_schema` of a registered tool may take, in each process that caches the tool. */
export const registeredSchemaBytes = 512 * 1024;

/** In caches it takes the place of a schema that is too large. No argument fits it, and no check accepts it. */
const leftOut: Schema = { type: 'object', not: {}, $comment: 'windlass.dev/left-out' };

/**
 * The schema that a cache keeps. The API server cannot measure free JSON (1 MiB of `{}` takes 14 MiB of heap), so that some
 * dozens of objects would fill the memory of each process that caches them.
 */
export const keptSchema = <T extends Schema>(schema: T): T | typeof leftOut => (isLarge(schema) ? leftOut : schema);

/** The problem of a schema that `keptSchema` leaves out. */
export function largeSchemaProblems(schema: Schema, at: Place): readonly Problem[] {
  if (schema['$comment'] !== leftOut['$comment'] && !isLarge(schema)) return [];
  const message = `takes more than ${registeredSchemaBytes} bytes of memory; declare fewer fields`;
  return [errorAt(at, 'too_large', message)];
}

const isLarge = (schema: Schema): boolean => heapBytes(schema, registeredSchemaBytes) >= registeredSchemaBytes;
