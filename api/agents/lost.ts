import { AppError, type ErrorCode } from '../../lib/errors.ts';

/** Errors that come again on every replica: what it runs is gone, or its instruction cannot be rendered. */
const lasting: ReadonlySet<ErrorCode> = new Set(['not_found', 'invalid', 'limit_exceeded', 'terminal']);

export function isLost(error: unknown): AppError {
  if (error instanceof AppError && lasting.has(error.code)) return error;
  throw error;
}
