import { isTooDeep, tooDeep } from '../nesting.ts';
import type { Work } from '../work/work.ts';
import type { SchemaProblem } from './compiled-schema.ts';
import { validate, validateWithin } from './validate.ts';

/**
 * The places where a start input does not fit the `input_schema` of its workflow, as `input.n` or `input["a b"]`; empty
 * when it fits. Beyond `most` they are counted. Without a schema anything fits that is not nested too deep. A schema
 * that is itself refused gives its own problems, after `schema:`. With the `work` of a turn it throws WorkBudgetExceeded;
 * without, too much work is a problem as well.
 */
export function inputProblems(schema: unknown, input: unknown, most?: number, work?: Work): readonly SchemaProblem[] {
  if (isTooDeep(input)) return [{ path: 'input', message: tooDeep }];
  if (schema === undefined) return [];
  const problems = work === undefined ? validate(schema, input, most) : validateWithin(work, schema, input, most);
  return problems.map(({ path, message }) => ({ path: inputPath(path), message }));
}

function inputPath(path: string): string {
  if (path === '' || path.startsWith('[')) return `input${path}`;
  return path.startsWith('schema:') ? path : `input.${path}`;
}
