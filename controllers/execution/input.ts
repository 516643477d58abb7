import type { WorkflowSpec } from '../../crds/schema/workflow.ts';
import type { WorkflowExecutionSpec } from '../../crds/schema/workflow-execution.ts';
import { AppError } from '../../lib/errors.ts';
import { inputProblems } from '../../lib/json-schema/input-problems.ts';
import { isTooDeep, tooDeep } from '../../lib/nesting.ts';

/** Problems that the sentence names; the rest are counted. */
const problemsShown = 5;

/**
 * Why an input does not satisfy `input_schema`, in one sentence that names every failing path; undefined where it
 * does, or where there is no schema (spec 1 §2.6).
 */
export function inputProblem({ input_schema: schema }: WorkflowSpec, input: unknown): string | undefined {
  try {
    const problems = inputProblems(schema, input);
    if (problems.length === 0) return undefined;
    const shown = problems.slice(0, problemsShown).map(({ path, message }) => `${path}: ${message}`);
    const rest = problems.length - shown.length;
    return [...shown, ...(rest > 0 ? [`and ${rest} more`] : [])].join('; ');
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

/** Which seed of the Blackboard is nested deeper than the API takes JSON. */
export function blackboardProblem(blackboard: WorkflowExecutionSpec['blackboard'] = {}): string | undefined {
  const found = Object.entries(blackboard).find(([, value]) => isTooDeep(value));
  return found && `blackboard.${found[0]}: ${tooDeep}`;
}
