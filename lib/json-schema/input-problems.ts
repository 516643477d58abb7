import type { SchemaProblem } from './compiled-schema.ts';
import { validate } from './validate.ts';

/**
 * The places where a start input does not fit the `input_schema` of its workflow, as `input.n` or `input["a b"]`; empty
 * when it fits, or where there is no schema. A schema that is itself refused gives its own problems, after `schema:`.
 */
export function inputProblems(schema: unknown, input: unknown): readonly SchemaProblem[] {
  if (schema === undefined) return [];
  return validate(schema, input).map(({ path, message }) => ({ path: inputPath(path), message }));
}

function inputPath(path: string): string {
  if (path === '' || path.startsWith('[')) return `input${path}`;
  return path.startsWith('schema:') ? path : `input.${path}`;
}
