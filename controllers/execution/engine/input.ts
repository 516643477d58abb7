import { lineOfProblem } from '../../../crds/problem.ts';
import type { WorkflowSpec } from '../../../crds/schema/workflow.ts';
import type { WorkflowExecutionSpec } from '../../../crds/schema/workflow-execution.ts';
import { AppError } from '../../../lib/errors.ts';
import { inputProblems } from '../../../lib/json-schema/input-problems.ts';
import { isTooDeep, tooDeep } from '../../../lib/nesting.ts';
import { type Work, WorkBudgetExceeded } from '../../../lib/work/work.ts';

/** Failing paths that the sentence names; the rest are counted. */
const pathsShown = 5;

/**
 * Why an input does not satisfy `input_schema`, in one sentence that names the first failing paths; undefined where it
 * does, or where there is no schema (spec 1 §2.6).
 * @throws WorkBudgetExceeded
 */
export function inputProblem({ input_schema: schema }: WorkflowSpec, input: unknown, work: Work): string | undefined {
  try {
    const problems = inputProblems(schema, input, pathsShown, work);
    return problems.length === 0 ? undefined : problems.map(lineOfProblem).join('; ');
  } catch (error) {
    if (error instanceof AppError && !(error instanceof WorkBudgetExceeded)) return error.message;
    throw error;
  }
}

/** Which seed of the Blackboard is nested deeper than the API takes JSON. */
export function blackboardProblem(blackboard: WorkflowExecutionSpec['blackboard'] = {}): string | undefined {
  const found = Object.entries(blackboard).find(([, value]) => isTooDeep(value));
  return found && `blackboard.${found[0]}: ${tooDeep}`;
}
