import { AppError, type ErrorCode } from '../errors.ts';
import { KubeError } from '../kube/kube-error.ts';
import type { Access } from './contract.ts';
import { HttpError, type HttpErrorOptions } from './http-error.ts';

/** What a code stands for in HTTP. */
interface ErrorForm {
  readonly status: number;
  readonly error: string;
}

/** The only table of statuses (spec 1 §7, requirements AMB-023 and AMB-024). A new code fails to compile until it is here. */
export const errorForms: Readonly<Record<ErrorCode, ErrorForm>> = {
  invalid: { status: 400, error: 'invalid_request' },
  unauthenticated: { status: 401, error: 'unauthorized' },
  forbidden: { status: 403, error: 'forbidden' },
  not_found: { status: 404, error: 'not_found' },
  already_exists: { status: 409, error: 'already_exists' },
  conflict: { status: 409, error: 'conflict' },
  gone: { status: 410, error: 'gone' },
  limit_exceeded: { status: 422, error: 'limit_exceeded' },
  timeout: { status: 504, error: 'timeout' },
  unavailable: { status: 503, error: 'unavailable' },
  cancelled: { status: 503, error: 'unavailable' },
  terminal: { status: 500, error: 'internal' },
  wait: { status: 503, error: 'unavailable' },
  lost_leadership: { status: 500, error: 'internal' },
  internal: { status: 500, error: 'internal' },
};

/** Codes whose message says something to the caller. The others' tells of our insides. */
const forCallers: ReadonlySet<ErrorCode> = new Set(['invalid', 'conflict', 'already_exists', 'limit_exceeded']);

/** After how many seconds to ask again, where nobody knows better. */
const RETRY_AFTER_SECONDS = '5';

/** An error as it goes out. */
export interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** Deserves a line with the whole error: it is our fault. */
  readonly isFault: boolean;
}

/** The answer to anything that was thrown by an operation of that access. What is of no known kind becomes a bland 500. */
export function toErrorReply(error: unknown, access?: Access): ErrorReply {
  const options = optionsOf(error);
  const form = errorForms[options.code];
  const status = options.status ?? form.status;
  const { message, details, fields } = options;
  return {
    status,
    headers: { ...standardHeaders(status, access), ...options.headers },
    body: {
      error: options.error ?? form.error,
      ...(message === undefined ? {} : { message }),
      ...(details === undefined ? {} : { details }),
      ...fields,
    },
    isFault: status >= 500 && options.code !== 'cancelled' && !(error instanceof HttpError && !error.cause),
  };
}

function optionsOf(error: unknown): HttpErrorOptions {
  if (error instanceof HttpError) return error.options;
  if (error instanceof KubeError) return optionsOfKubeError(error);
  if (!(error instanceof AppError)) return { code: 'internal' };
  return forCallers.has(error.code) ? { code: error.code, message: error.message } : { code: error.code };
}

/** The API server speaks to us, not to our caller: what it denies us is our fault, what it finds invalid is the caller's. */
function optionsOfKubeError(error: KubeError): HttpErrorOptions {
  if (error.code === 'unauthenticated' || error.code === 'forbidden') return { code: 'internal' };
  if (error.code === 'invalid') return { code: 'invalid', message: error.serverMessage };
  return { code: error.code };
}

function standardHeaders(status: number, access?: Access): Record<string, string> {
  if (status === 401) return { 'WWW-Authenticate': access === 'signature' ? 'Signature' : 'Bearer' };
  if (status === 429 || status === 503) return { 'Retry-After': RETRY_AFTER_SECONDS };
  return {};
}
