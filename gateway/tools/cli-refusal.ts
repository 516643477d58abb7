import { limits } from '../../crds/limits.ts';
import { notYetMessage } from '../../lib/caller-error.ts';
import { AppError } from '../../lib/errors.ts';
import { isDenied, isInvalid, isNamespaceGone, isQuotaExceeded, isTooLarge } from '../../lib/kube/index.ts';

/** The API server's refusal of a CLI tool's run, as an answer to its caller; undefined for any other error. */
export function refusedRun(cause: unknown): AppError | undefined {
  const invalid = (message: string): AppError => new AppError('invalid', message, { reason: 'Validation', cause });
  const notYet = notYetMessage(cause);
  if (notYet !== undefined) return new AppError('unavailable', notYet, { reason: 'NotReady', cause });
  if (isTooLarge(cause)) return invalid(`the arguments may have ${limits.executionInputBytes} bytes; send less`);
  if (isQuotaExceeded(cause)) {
    return new AppError(
      'limit_exceeded',
      'the quota of the tenant has no room for another run; wait until one ends, or raise the quota',
      { reason: 'QuotaExceeded', cause },
    );
  }
  if (isNamespaceGone(cause)) {
    return new AppError('not_found', 'the tenant is not set up; make it with windlass tenant create', {
      reason: 'NotFound',
      cause,
    });
  }
  // The rules of the kind, and admission policies, speak of the object.
  if (isInvalid(cause) || isDenied(cause)) return invalid(`the run was refused: ${cause.serverMessage}`);
  return undefined;
}
