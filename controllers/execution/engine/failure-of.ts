import { AppError, hasReason } from '../../../lib/errors.ts';
import { WorkBudgetExceeded } from '../../../lib/work/work.ts';
import { LackingFacts } from './draft.ts';
import type { Failure } from './facts.ts';

/**
 * The failure of a state or step for a missing template, expression or value. Any other error is thrown: a bug, or
 * a turn.
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof LackingFacts || error instanceof WorkBudgetExceeded || !(error instanceof AppError)) throw error;
  const { message } = error;
  if (hasReason(error, 'OutputLost') || hasReason(error, 'NestedTooDeep')) return { reason: error.reason, message };
  return { reason: error.name === 'ExpressionError' ? 'ExpressionFailed' : 'TemplateFailed', message };
}
