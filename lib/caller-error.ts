import { AppError, type ErrorCode } from './errors.ts';
import { KubeError } from './kube/kube-error.ts';

/** The error as a caller of ours sees it. */
interface CallerError {
  readonly code: ErrorCode;
  /** Absent where it would tell of our insides. */
  readonly message?: string;
}

/** Codes whose message is about the request. */
const aboutRequest: ReadonlySet<ErrorCode> = new Set(['invalid', 'conflict', 'already_exists', 'limit_exceeded']);

/**
 * The error that a caller gets for any exception, over whichever protocol. The API server speaks to us, not to our
 * caller: what it denies us is our fault, what it finds invalid is the caller's.
 */
export function callerError(error: unknown): CallerError {
  if (!(error instanceof AppError)) return { code: 'internal' };
  const { code } = error;
  if (error instanceof KubeError) {
    if (code === 'unauthenticated' || code === 'forbidden') return { code: 'internal' };
    return code === 'invalid' ? { code, message: error.serverMessage } : { code };
  }
  return aboutRequest.has(code) ? { code, message: error.message } : { code };
}
