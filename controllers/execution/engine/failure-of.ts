import { AppError } from '../../../lib/errors.ts';
import { WorkBudgetExceeded } from '../../../lib/work/work.ts';
import { LackingFacts } from './draft.ts';
import type { Failure } from './facts.ts';

/**
 * What a template, expression or value that cannot be had means for its state or step. Anything else goes up: a bug, or
 * a turn.
 */
export function failureOf(error: unknown): Failure {
  if (error instanceof LackingFacts || error instanceof WorkBudgetExceeded || !(error instanceof AppError)) throw error;
  const { message } = error;
  if (error.reason === 'OutputLost' || error.reason === 'NestedTooDeep') return { reason: error.reason, message };
  return { reason: error.name === 'ExpressionError' ? 'ExpressionFailed' : 'TemplateFailed', message };
}
