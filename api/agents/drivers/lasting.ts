import { AppError, type ErrorCode } from '../../../lib/errors.ts';
import { KubeError } from '../../../lib/kube/index.ts';

/**
 * Errors that every replica would meet again: the definition is gone, or its instruction cannot be rendered. KubeErrors
 * are excluded: an API server that starts answers 403, and a proxy 404.
 */
const lasting: ReadonlySet<ErrorCode> = new Set(['not_found', 'invalid', 'limit_exceeded', 'terminal']);

/** The error, where every replica would meet it again. @throws any other. */
export function lastingOrThrow(error: unknown): AppError {
  if (error instanceof AppError && !(error instanceof KubeError) && lasting.has(error.code)) return error;
  throw error;
}
