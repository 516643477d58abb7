import { callerError } from '../caller-error.ts';
import { AppError, type ErrorCode } from '../errors.ts';
import { HttpError } from '../http/http-error.ts';
import { KubeError } from '../kube/index.ts';
import { refusalText } from '../tools/refusals.ts';
import type { ToolRefusal } from '../tools/tool.ts';
import { EnvelopeError, type EnvelopeFault } from './envelope-error.ts';

/** How a call is refused (spec 3 §7.2). */
interface RpcForm {
  readonly status: number;
  readonly rpc: number;
  /** spec 3 §7.1, requirements AMB-003. */
  readonly data?: { readonly code: number } | { readonly error: string } | null;
}

const unproved: RpcForm = { status: 401, rpc: -32_000 };
const refused: RpcForm = { status: 403, rpc: -32_000 };
const internal: RpcForm = { status: 500, rpc: -32_603 };

const faults: Readonly<Record<EnvelopeFault, RpcForm>> = {
  malformed: { status: 400, rpc: -32_600 },
  session_inactive: refused,
  session_revoked: { ...refused, data: { error: 'OutcomeUnknown' } },
  session_expired: unproved,
  token_invalid: unproved,
  signature_invalid: { ...unproved, data: { code: 1_004 } },
  not_fresh: { ...unproved, data: { code: 1_003 } },
  replayed: unproved,
  out_of_session: refused,
  tenant_mismatch: refused,
};

const refusals: Readonly<Record<ToolRefusal['kind'], RpcForm>> = {
  unknown_tool: refused,
  policy: refused,
  arguments: { status: 422, rpc: -32_602 },
};

const away = 'something that this needs cannot be reached; try again';

/** Errors of the service after which a caller may try again. */
const others: Readonly<Partial<Record<ErrorCode, RpcForm & { readonly message: string }>>> = {
  limit_exceeded: { status: 429, rpc: -32_000, message: 'this tenant has made too many calls; try again later' },
  unavailable: { status: 503, rpc: -32_603, message: away },
  cancelled: { status: 503, rpc: -32_603, message: away },
  timeout: {
    ...internal,
    data: { error: 'OutcomeUnknown' },
    message: 'the call took too long; it may have run, look before you call it again',
  },
};

/** The error of a gateway tool with a status (spec 3 §7.1): the message is the caller's own business. */
const answered: Readonly<Partial<Record<ErrorCode, RpcForm>>> = {
  invalid: { status: 400, rpc: -32_602, data: { error: 'Validation' } },
  not_found: { status: 404, rpc: -32_000, data: { error: 'NotFound' } },
};

/** The same for refusals by the state of the tenant, by their reason: nothing ran, and the message says what to wait for. */
const refusedByState: ReadonlyMap<string, RpcForm> = new Map([
  ['QuotaExceeded', { status: 429, rpc: -32_000, data: { error: 'QuotaExceeded' } }],
  ['NotReady', { status: 503, rpc: -32_603, data: { error: 'NotReady' } }],
]);

/** The answer to what a tool threw; undefined for what is not its caller's business. */
export function answeredError(error: unknown, id: Id): HttpError | undefined {
  if (!(error instanceof AppError) || error instanceof KubeError) return undefined;
  const form = refusedByState.get(error.reason) ?? answered[error.code];
  return form === undefined ? undefined : rpcError(form, { message: error.message, id });
}

type Id = string | number | null;

/** The answer to a call that a policy or the check of its arguments refuses. */
export function refusalError(refusal: ToolRefusal, id: Id): HttpError {
  const { kind, message } = refusal;
  return rpcError(refusals[kind], { message: kind === 'arguments' ? message : refusalText(refusal), id });
}

/** The answer to whatever else was thrown; of an error of no known kind it tells nothing. */
export function callError(error: unknown, id: Id): HttpError {
  if (error instanceof EnvelopeError)
    return rpcError(faults[error.fault], { message: error.message, id: id ?? error.id ?? null });
  const form = others[codeOf(error)];
  if (form !== undefined) return rpcError(form, { message: sentenceOf(error) ?? form.message, id, cause: error });
  return rpcError(internal, { message: 'something is wrong with the service; its log tells more', id, cause: error });
}

/** For trouble of the API server, such as that of a new tenant. */
const sentenceOf = (error: unknown): string | undefined =>
  error instanceof KubeError ? callerError(error).message : undefined;

/** Failures of the API server that pass. */
function codeOf(error: unknown): ErrorCode {
  if (!(error instanceof AppError)) return 'internal';
  return error instanceof KubeError && callerError(error).code === 'unavailable' ? 'unavailable' : error.code;
}

/** The body of an error that comes before a call is read: the body is too large, or the service is about to stop. */
export function transportError({ status, message }: { readonly status: number; readonly message: string }) {
  const code = status >= 500 ? internal.rpc : (transport[status] ?? malformedRpc);
  return { jsonrpc: '2.0', error: { code, message, data: null } };
}

const malformedRpc = -32_600;
const transport: Readonly<Record<number, number>> = { 401: unproved.rpc, 403: refused.rpc, 429: unproved.rpc };

interface RpcText {
  readonly message: string;
  readonly id: Id;
  readonly cause?: unknown;
}

function rpcError({ status, rpc: code, data = null }: RpcForm, { message, id, cause }: RpcText): HttpError {
  return new HttpError({
    code: status >= 500 ? 'internal' : 'invalid',
    status,
    message,
    body: { jsonrpc: '2.0', ...(id === null ? {} : { id }), error: { code, message, data } },
    cause,
  });
}
