import { AppError } from '../errors.ts';
import { cutText } from '../cut-text.ts';

/** An error of the library, as far as we read it. */
interface LibraryError extends Error {
  readonly code?: unknown;
  readonly status?: unknown;
}

const messageLength = 500;

/** The error of the protocol that a server answered a request with: its own words, without our key. */
export class McpRefusal extends Error {
  override readonly name = 'McpRefusal';
}

/** The refusal in an error of the library, `redact` applied before anything is cut off; undefined for any other error. */
export function mcpRefusal(error: unknown, redact: (text: string) => string): McpRefusal | undefined {
  if (!(error instanceof Error) || ownError(error) !== undefined) return undefined;
  const { code, status, message }: LibraryError = error;
  // Errors of the platform have numbers as well.
  if (typeof code !== 'number' || typeof status === 'number' || error instanceof DOMException) return undefined;
  return new McpRefusal(cutText(redact(message), messageLength).toWellFormed());
}

/**
 * The failure of a server, without what was sent to it or came from it, except for the words of a refusal. `signal` is
 * that of the request.
 */
export function serverErrorOf(error: unknown, signal: AbortSignal): Error {
  if (signal.aborted) return signalError(signal);
  const own = ownError(error);
  if (own !== undefined) return own;
  if (error instanceof McpRefusal) return error;
  if (!(error instanceof Error)) return new AppError('unavailable', 'the exchange failed');
  const { code, status }: LibraryError = error;
  if (typeof status === 'number') return new AppError('unavailable', `HTTP ${status}`, { reason: `HTTP ${status}` });
  if (error.name === 'TimeoutError' || code === 'REQUEST_TIMEOUT') return timeout();
  return new AppError('unavailable', 'no answer of the protocol came');
}

function signalError({ reason }: AbortSignal): Error {
  if (reason instanceof DOMException && reason.name === 'TimeoutError') return timeout();
  return new AppError('cancelled', 'the call is over');
}

const timeout = (): AppError => new AppError('timeout', 'no answer came in time');

/** An error of our side of the connection, at whatever depth of its causes. */
function ownError(error: unknown, depth = 0): AppError | undefined {
  if (error instanceof AppError) return error;
  if (!(error instanceof Error) || depth > 8) return undefined;
  const { code }: LibraryError = error;
  const word = typeof code === 'string' ? connection[code] : undefined;
  if (word !== undefined) return new AppError('unavailable', word, { reason: 'NetworkError' });
  if (error.name === 'TimeoutError') return timeout();
  return ownError(error.cause, depth + 1);
}

const connection: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was closed',
  ENOTFOUND: 'the name is not known',
  EAI_AGAIN: 'the name cannot be looked up now',
  EHOSTUNREACH: 'the host cannot be reached',
  UND_ERR_CONNECT_TIMEOUT: 'no connection came about in time',
  UND_ERR_SOCKET: 'the connection was closed before the answer was whole',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the answer are too large',
};
