import { errorOf, WindlassApiError, WindlassConnectionError } from './api-error.ts';
import { httpRequest } from './http-request.ts';
import type { CallOptions, Operation, OperationRequest } from './operation.ts';
import { pauseBefore } from './retry.ts';
import type { Sleep } from './sleep.ts';

/** Gives the token of a call. `refused` is the token that the server has just not accepted; then a new one is wanted. */
export type TokenSource = (refused?: string) => Promise<string | undefined> | string | undefined;

/** A client's options in their complete form. */
export interface TransportOptions {
  readonly server: string;
  readonly getToken: TokenSource;
  readonly tenant: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: typeof fetch;
  readonly sleep: Sleep;
  readonly random: () => number;
  readonly attempts: number;
  readonly timeoutMs: number;
}

/** Sends the requests of calls. */
export interface Transport {
  readonly options: TransportOptions;
  /**
   * An answer whose status is 200, its body unread, after as many attempts as the rules of repetition allow. Throws
   * WindlassApiError, WindlassConnectionError, or the reason of the call's signal.
   */
  send(operation: Operation, request: OperationRequest, options?: CallOptions): Promise<Response>;
}

/** A transport over `fetch`. */
export function createTransport(options: TransportOptions): Transport {
  return { options, send: (operation, request, callOptions = {}) => send(options, operation, request, callOptions) };
}

async function send(
  transport: TransportOptions,
  operation: Operation,
  request: OperationRequest,
  options: CallOptions,
): Promise<Response> {
  const repeatable = isRepeatable(operation, request);
  for (let attempt = 1; ; attempt++) {
    try {
      return await withToken(transport, operation, request, options);
    } catch (error) {
      const pause =
        attempt < transport.attempts ? pauseBefore(attempt, error, { repeatable }, transport.random()) : undefined;
      if (pause === undefined) throw error;
      await transport.sleep(pause, options.signal);
      options.signal?.throwIfAborted();
    }
  }
}

function isRepeatable(operation: Operation, request: OperationRequest): boolean {
  return (
    operation.method === 'GET' ||
    (operation.headers['idempotencyKey'] !== undefined && Boolean(request['idempotencyKey']))
  );
}

/** One attempt, and a second with a new token where the first token was refused. */
async function withToken(
  transport: TransportOptions,
  operation: Operation,
  request: OperationRequest,
  options: CallOptions,
): Promise<Response> {
  const token = operation.bearer ? await transport.getToken() : undefined;
  const response = await attempt(transport, httpRequest(operation, request, { ...transport, token }), options);
  if (response.ok) return response;
  if (response.status !== 401 || token === undefined) throw await errorOf(response);
  const renewed = await transport.getToken(token);
  if (renewed === undefined || renewed === token) throw await errorOf(response);
  await response.body?.cancel();
  const second = await attempt(transport, httpRequest(operation, request, { ...transport, token: renewed }), options);
  if (!second.ok) throw await errorOf(second);
  return second;
}

async function attempt(
  { fetch, sleep, timeoutMs }: TransportOptions,
  request: Request,
  options: CallOptions,
): Promise<Response> {
  const begun = new AbortController();
  const late = new AbortController();
  const limitMs = options.timeoutMs ?? timeoutMs;
  void sleep(limitMs, begun.signal).then(() => begun.signal.aborted || late.abort());
  const signals = [late.signal, ...(options.signal ? [options.signal] : [])];
  try {
    return await fetch(request, { signal: AbortSignal.any(signals) });
  } catch (error) {
    options.signal?.throwIfAborted();
    const { origin } = new URL(request.url);
    const message = late.signal.aborted
      ? `${origin} did not answer within ${limitMs} ms`
      : `${origin} cannot be reached`;
    throw new WindlassConnectionError(message, { cause: error });
  } finally {
    begun.abort();
  }
}

/** The JSON of an answer. Anything else comes from a server that is not Windlass. */
export async function jsonOf(response: Response, signal?: AbortSignal): Promise<unknown> {
  const text = await textOf(response, signal);
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new WindlassConnectionError(`${new URL(response.url).origin} answered what is no JSON: is it Windlass?`, {
      cause: error,
    });
  }
}

async function textOf(response: Response, signal: AbortSignal | undefined): Promise<string> {
  try {
    return await response.text();
  } catch (error) {
    signal?.throwIfAborted();
    throw new WindlassConnectionError('the connection was lost while an answer was read', { cause: error });
  }
}

/** Whether another attempt on a lost stream makes sense. */
export function isPassing(error: unknown): boolean {
  if (error instanceof WindlassApiError) return error.status === 429 || error.status >= 500;
  return error instanceof WindlassConnectionError;
}
