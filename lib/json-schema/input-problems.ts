import { isTooDeep, tooDeep } from '../nesting.ts';
import type { SchemaProblem } from './compiled-schema.ts';
import { validate } from './validate.ts';

/**
 * The places where a start input does not fit the `input_schema` of its workflow, as `input.n` or `input["a b"]`; empty
 * when it fits. Beyond `most` they are counted. Without a schema anything fits that is not nested too deep. A schema
 * that is itself refused gives its own problems, after `schema:`.
 */
export function inputProblems(schema: unknown, input: unknown, most?: number): readonly SchemaProblem[] {
  if (isTooDeep(input)) return [{ path: 'input', message: tooDeep }];
  if (schema === undefined) return [];
  return validate(schema, input, most).map(({ path, message }) => ({ path: inputPath(path), message }));
}

function inputPath(path: string): string {
  if (path === '' || path.startsWith('[')) return `input${path}`;
  return path.startsWith('schema:') ? path : `input.${path}`;
}
