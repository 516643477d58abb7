import { lineOfProblem } from '../crds/problem.ts';
import type { Json } from '../crds/schema/parts.ts';
import { CliError } from './exit-codes.ts';

/**
 * Checks the start input as the controller will, so that nothing is created that must fail. Throws a usage error with
 * the failing paths that the API would list.
 */
export async function assertInput(schema: unknown, input: Record<string, Json>): Promise<void> {
  if (schema === undefined) return;
  const { inputProblems } = await import('../lib/json-schema/input-problems.ts');
  const problems = inputProblems(schema, input);
  if (problems.length === 0) return;
  throw new CliError(
    'usage',
    'the input does not fit the input_schema of the workflow; nothing was started',
    'Give the keys with --input KEY=VALUE or --input-file; see the schema with windlass workflow get NAME -o yaml.',
    problems.map(lineOfProblem),
  );
}
