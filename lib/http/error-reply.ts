import { callerError } from '../caller-error.ts';
import type { ErrorCode } from '../errors.ts';
import { KubeError } from '../kube/kube-error.ts';
import type { Access, Contract } from './contract.ts';
import { HttpError, type HttpErrorOptions } from './http-error.ts';
import { errorsOf } from './shared-errors.ts';

/** The HTTP status and text of a code. */
interface ErrorForm {
  readonly status: number;
  readonly error: string;
  /** The fault and its remedy, where the error does not say. */
  readonly message: string;
}

const away = 'something that this needs cannot be reached; try again';
const ours = 'something is wrong with the service; its log tells more under the X-Request-Id of this answer';

/** The only table of statuses (spec 1 §7, requirements AMB-023 and AMB-024). A new code fails to compile until it is here. */
export const errorForms: Readonly<Record<ErrorCode, ErrorForm>> = {
  invalid: { status: 400, error: 'invalid_request', message: 'the request is not as described' },
  unauthenticated: { status: 401, error: 'unauthorized', message: 'send a valid token, or a valid signature' },
  forbidden: { status: 403, error: 'forbidden', message: 'you may not do this' },
  not_found: { status: 404, error: 'not_found', message: 'there is no such thing, or it is not yours to see' },
  already_exists: { status: 409, error: 'already_exists', message: 'there is one of that name already' },
  conflict: { status: 409, error: 'conflict', message: 'another caller changed it meanwhile; read it and try again' },
  gone: { status: 410, error: 'gone', message: 'it is no longer there' },
  limit_exceeded: { status: 422, error: 'limit_exceeded', message: 'this is more than is allowed' },
  timeout: { status: 504, error: 'timeout', message: 'something that this needs took too long; try again' },
  unavailable: { status: 503, error: 'unavailable', message: away },
  cancelled: { status: 503, error: 'unavailable', message: 'this replica is about to stop; try again' },
  terminal: { status: 500, error: 'internal', message: ours },
  wait: { status: 503, error: 'unavailable', message: away },
  lost_leadership: { status: 500, error: 'internal', message: ours },
  internal: { status: 500, error: 'internal', message: ours },
};

/** After how many seconds to ask again, where the error does not say. */
const retryAfterSeconds = '5';

/** The form of an error on the wire. */
interface ErrorReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
  /** Deserves a line with the whole error: it is our fault, or may be. */
  readonly isFault: boolean;
}

/**
 * The answer to anything that was thrown by an operation. An error of no known kind becomes a bland 500. Every answer
 * has `error`, whose text the specification fixes for some, `code`, which is one word in all of them, and `message`.
 */
export function toErrorReply(
  error: unknown,
  contract?: Pick<Contract, 'access' | 'errors' | 'body' | 'errorBody'>,
): ErrorReply {
  const options: HttpErrorOptions = error instanceof HttpError ? error.options : callerError(error);
  const form = errorForms[options.code];
  const status = options.status ?? form.status;
  const text = options.error ?? form.error;
  const usual = usualBody(options, text, meaningOf(contract, status, text));
  return {
    status,
    headers: { ...standardHeaders(status, contract?.access), ...options.headers },
    body: options.body ?? ownBody(contract, status, usual) ?? usual,
    isFault: status >= 500 ? isFault(error, options) : isUnexpectedNotFound(error),
  };
}

function ownBody(
  contract: Parameters<typeof toErrorReply>[1],
  status: number,
  { message }: UsualBody,
): ErrorReply['body'] | undefined {
  return contract?.errorBody?.({ status, message });
}

type UsualBody = ErrorReply['body'] & { readonly message: string };

function usualBody(options: HttpErrorOptions, text: string, meaning: string | undefined): UsualBody {
  const form = errorForms[options.code];
  // A word or text of its own means what its contract says, not what the code does.
  const usual = options.error === undefined ? form.message : undefined;
  const message = options.message ?? usual ?? meaning ?? form.message;
  return { error: text, code: errorCode(text), message, details: options.details, ...options.fields };
}

/** A word of small letters, digits and underscores for any text under `error`: `Workflow not found` is `workflow_not_found`. */
export function errorCode(error: string): string {
  return error
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_|_$/g, '');
}

/** When the contract says that an operation is answered so. */
function meaningOf(contract: Parameters<typeof toErrorReply>[1], status: number, error: string): string | undefined {
  if (contract === undefined) return undefined;
  return errorsOf(contract)
    .find((known) => known.status === status && known.error === error)
    ?.when.replaceAll('`', '');
}

const isFault = (error: unknown, { code }: HttpErrorOptions): boolean =>
  code !== 'cancelled' && !(error instanceof HttpError && !error.cause);

/**
 * Handlers throw an error of their own where an object that the caller named is missing. A 404 of the Kubernetes API that
 * reaches this file is about another object, and only the log says so.
 */
const isUnexpectedNotFound = (error: unknown): boolean => error instanceof KubeError && error.code === 'not_found';

function standardHeaders(status: number, access?: Access): Record<string, string> {
  if (status === 401) return { 'WWW-Authenticate': access === 'signature' ? 'Signature' : 'Bearer' };
  if (status === 429 || status === 503) return { 'Retry-After': retryAfterSeconds };
  return {};
}
