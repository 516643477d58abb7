import { errorOf, isUnsent, WindlassApiError, WindlassConnectionError } from './api-error.ts';
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
  /** Pauses of one call, together. */
  readonly patienceMs: number;
  readonly timeoutMs: number;
  readonly onRetry: (error: Error, pauseMs: number) => void;
}

/** The answer to a request. */
interface Answer {
  readonly response: Response;
  /** The whole body; empty where the answer is a stream, whose body is unread. */
  readonly text: string;
}

/** Sends the requests of calls. */
export interface Transport {
  readonly options: TransportOptions;
  /**
   * A successful answer, after as many attempts as the rules of repetition allow. Throws WindlassApiError,
   * WindlassConnectionError, or the reason of the call's signal.
   */
  send(operation: Operation, request: OperationRequest, options?: CallOptions): Promise<Answer>;
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
): Promise<Answer> {
  const repeatable = isRepeatable(operation, request);
  let patienceMs = transport.patienceMs;
  for (let attempt = 1; ; attempt++) {
    try {
      return await withToken(transport, operation, request, options);
    } catch (error) {
      const pause =
        attempt < transport.attempts ? pauseBefore(attempt, error, { repeatable }, transport.random()) : undefined;
      if (pause === undefined || pause > patienceMs || !(error instanceof Error)) throw error;
      patienceMs -= pause;
      transport.onRetry(error, pause);
      await transport.sleep(pause, options.signal);
      options.signal?.throwIfAborted();
    }
  }
}

/** Whether the same call sent again does nothing twice. */
export function isRepeatable(operation: Operation, request: OperationRequest): boolean {
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
): Promise<Answer> {
  const token = operation.bearer ? await transport.getToken() : undefined;
  const asked = (bearer: string | undefined): Promise<Answer> =>
    attempt(transport, operation, httpRequest(operation, request, { ...transport, token: bearer }), options);
  const first = await asked(token);
  if (first.response.ok) return first;
  const renewed = first.response.status === 401 && token !== undefined ? await transport.getToken(token) : token;
  if (renewed === undefined || renewed === token) throw errorOf(first.response, first.text);
  const second = await asked(renewed);
  if (!second.response.ok) throw errorOf(second.response, second.text);
  return second;
}

async function attempt(
  { fetch, sleep, timeoutMs }: TransportOptions,
  operation: Operation,
  request: Request,
  options: CallOptions,
): Promise<Answer> {
  const begun = new AbortController();
  const late = new AbortController();
  const limitMs = options.timeoutMs ?? timeoutMs;
  void sleep(limitMs, begun.signal).then(() => begun.signal.aborted || late.abort());
  const signals = [late.signal, ...(options.signal ? [options.signal] : [])];
  let problem: string | undefined;
  try {
    const response = await fetch(request, { signal: AbortSignal.any(signals) });
    problem = 'cut its answer off';
    return { response, text: await textOf(operation, response) };
  } catch (error) {
    options.signal?.throwIfAborted();
    const isSent = !isUnsent(error);
    problem ??= isSent ? 'broke the connection before it answered' : 'cannot be reached';
    if (late.signal.aborted) problem = `did not answer within ${limitMs} ms`;
    const mayHaveRun = isSent && operation.method !== 'GET';
    throw new WindlassConnectionError(`${new URL(request.url).origin} ${problem}`, { cause: error, mayHaveRun });
  } finally {
    begun.abort();
  }
}

/** An error whose words are lost is an error all the same. */
async function textOf({ reply }: Operation, response: Response): Promise<string> {
  if (!response.ok) return response.text().catch(() => '');
  return reply === 'json' || reply === 'none' ? response.text() : '';
}

/** The JSON of an answer. */
export const jsonOf = ({ response, text }: Answer): unknown => parseJson(text, response.url);

/** Anything else than JSON comes from a server that is not Windlass. */
export function parseJson(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new WindlassConnectionError(`${new URL(url).origin} did not answer with JSON: is it Windlass?`, {
      cause: error,
    });
  }
}

/** Whether another attempt on a lost stream makes sense: what is no JSON will be none again. */
export function isPassing(error: unknown): boolean {
  if (error instanceof WindlassApiError) return error.status === 429 || error.status >= 500;
  return error instanceof WindlassConnectionError && !(error.cause instanceof SyntaxError);
}
