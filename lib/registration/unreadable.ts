import { AppError } from '../errors.ts';
import { isForbidden } from '../kube/index.ts';

/**
 * The error of a reading of revisions. A refusal says nothing of what is stored: a server that has just begun refuses
 * everything for a moment (ADR 0142).
 */
export function unreadable(error: unknown): unknown {
  if (!isForbidden(error)) return error;
  return new AppError('unavailable', `stored versions may not be read: ${error.message}`, {
    reason: 'DefinitionUnreadable',
    cause: error,
  });
}
