import { AppError, type ErrorCode } from '../errors.ts';
import { InternalAddress } from '../tools/web/vetted-agent.ts';

/** A call to an upstream that gave no response that can be used. The message holds no header, body and credential. */
export class UpstreamError extends AppError {
  override readonly name = 'UpstreamError';
  /** Where a response began. */
  readonly status: number | undefined;

  constructor(code: ErrorCode, message: string, reason: string, status?: number) {
    super(code, message, { reason });
    this.status = status;
  }
}

/** The failure of one attempt, in words that are ours: those of a library may quote what was sent. */
export function upstreamErrorOf(error: unknown, host: string, signal: AbortSignal, status?: number): UpstreamError {
  if (error instanceof UpstreamError) return error;
  if (signal.aborted) return endedBy(signal, host, status);
  const known = error instanceof AppError ? error : causeOf(error);
  return known === undefined ? failed(host, wordsOf(error), status) : ofOurs(known, host, status);
}

/** The upstream has answered. Its request has been carried out, and is not sent again. */
export const noRoomFor = (host: string, status: number): UpstreamError =>
  new UpstreamError(
    'unavailable',
    `${host} answered, and the gateway had no room for the response: other responses took the memory for them`,
    'Overloaded',
    status,
  );

function ofOurs(error: AppError, host: string, status: number | undefined): UpstreamError {
  if (error instanceof InternalAddress) return notPermitted(host, error.address);
  const { code, reason, message } = error;
  if (reason === 'InvalidNetwork') return new UpstreamError('invalid', message, reason);
  if (code !== 'limit_exceeded') return failed(host, message, status);
  const words = `${host}: the response is larger than the gateway takes when it is unpacked`;
  return new UpstreamError('limit_exceeded', words, 'ResponseTooLarge', status);
}

const failed = (host: string, words: string, status: number | undefined): UpstreamError =>
  new UpstreamError('unavailable', `${host}: ${words}`, 'NetworkError', status);

/** Without the address: a caller of a tool must not learn how names inside the cluster resolve. */
const notPermitted = (host: string, address: string | undefined): UpstreamError =>
  new UpstreamError(
    'forbidden',
    address === undefined
      ? `${host} has no address`
      : `${host} is at an internal address; an administrator opens its network in allow_internal_addresses of the API spec`,
    'AddressRefused',
  );

function endedBy(signal: AbortSignal, host: string, status: number | undefined): UpstreamError {
  const isTimeout = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError';
  if (isTimeout) return new UpstreamError('timeout', `${host}: no whole response came in time`, 'Timeout', status);
  return new UpstreamError('cancelled', 'the call was cancelled', 'Cancelled', status);
}

function causeOf(error: unknown): AppError | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof AppError ? cause : undefined;
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name cannot be looked up now',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ETIMEDOUT: 'no connection came about in time',
  UND_ERR_CONNECT_TIMEOUT:
    'no connection came about in time; the installation opens ports of upstreams in gateway.upstreamPorts',
  UND_ERR_SOCKET: 'the connection was closed before the response was whole',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the response are too large',
  UND_ERR_RES_EXCEEDED_MAX_SIZE: 'the response is too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the response is not as long as it says',
};

/** Beginnings and parts of codes that are many. */
const families: readonly (readonly [RegExp, string])[] = [
  [/^Z_|^ERR_(?!TLS|SSL)/, 'the body of the response cannot be unpacked'],
  [/^HPE_/, 'the response is no HTTP'],
  [/CERT|TLS|SSL|SELF_SIGNED|ALTNAME/, 'the certificate is not trusted'],
];

function wordsOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const known = Object.hasOwn(words, code) ? words[code] : undefined;
  const family = families.find(([pattern]) => pattern.test(code))?.[1];
  const named = /^[A-Z_]{1,60}$/.test(code) ? ` (${code})` : '';
  return known ?? family ?? `the connection failed${named}`;
}
