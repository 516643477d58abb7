import { byteStream } from './byte-stream.ts';
import { followEvents } from './follow-events.ts';
import {
  type Operations as GatewayOperations,
  operations as gatewayOperations,
} from './generated/gateway-operations.ts';
import { type Operations, operations } from './generated/operations.ts';
import type { CallOptions, Operation, OperationRequest } from './operation.ts';
import { type Sleep, sleep } from './sleep.ts';
import { createTransport, jsonOf, type TokenSource, type Transport } from './transport.ts';

/** Where the server is, and how a client of it behaves. */
export interface ClientOptions {
  /** Address of the server, such as `https://windlass.example.com`. */
  readonly server: string;
  /** The bearer token of every call. */
  readonly token?: string;
  /**
   * Gives the token of each call, instead of `token`. It is called again, with the token that was refused, when the
   * server answers 401; a different token is then tried once.
   */
  readonly getToken?: TokenSource;
  /** The tenant that a service account works for; other callers have one of their own. */
  readonly tenant?: string;
  /** Sent with every call, such as `user-agent`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Attempts of a call that may be repeated; 1 repeats nothing. Default 4. */
  readonly attempts?: number;
  /** Milliseconds that the pauses between the attempts of a call may have together. Default 90,000. */
  readonly patienceMs?: number;
  /** Milliseconds until an answer must have come, or a stream must have begun. Default 30,000. */
  readonly timeoutMs?: number;
  /** Called before each pause, with the reason why a call is repeated. */
  readonly onRetry?: (error: Error, pauseMs: number) => void;
  /** Default: that of the runtime. */
  readonly fetch?: typeof fetch;
  /** Waits between attempts; for tests. */
  readonly sleep?: Sleep;
  /** In [0, 1), for the jitter of pauses; for tests. */
  readonly random?: () => number;
}

/** A client of one server: a method for each operation of its API. */
export type WindlassClient = Operations;

/** A client of one tool gateway: a method for each operation of it. */
export type GatewayClient = GatewayOperations;

/**
 * A client whose methods are the operations of the API. Reads, and calls with an idempotency key, are repeated when the
 * server is away for a moment. Calls that take such a key get one of their own unless one is given. Nothing is sent
 * before the first call. Throws a TypeError when `server` is not an http or https address.
 */
export function createWindlassClient(options: ClientOptions): WindlassClient {
  // The table and the interface are generated from the same document.
  return methodsOf(operations, options) as unknown as WindlassClient;
}

/** The same for the tool gateway, which takes the tenant from the token alone. */
export function createGatewayClient(options: Omit<ClientOptions, 'tenant'>): GatewayClient {
  return methodsOf(gatewayOperations, options) as unknown as GatewayClient;
}

function methodsOf(table: Readonly<Record<string, Operation>>, options: ClientOptions): object {
  const transport = createTransport({
    server: serverOf(options.server),
    getToken: options.getToken ?? (() => options.token),
    tenant: options.tenant,
    headers: options.headers ?? {},
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    sleep: options.sleep ?? sleep,
    random: options.random ?? (() => Math.random()),
    attempts: options.attempts ?? 4,
    patienceMs: options.patienceMs ?? 90_000,
    onRetry: options.onRetry ?? (() => undefined),
    timeoutMs: options.timeoutMs ?? 30_000,
  });
  return Object.fromEntries(Object.entries(table).map(([id, operation]) => [id, methodOf(transport, operation)]));
}

function methodOf(transport: Transport, operation: Operation) {
  if (!takesRequest(operation)) return (options?: CallOptions) => call(transport, operation, {}, options);
  return (request?: OperationRequest, options?: CallOptions) =>
    call(transport, operation, withKey(operation, request ?? {}), options);
}

function call(
  transport: Transport,
  operation: Operation,
  request: OperationRequest,
  options: CallOptions = {},
): unknown {
  if (operation.reply === 'events') return followEvents(transport, { operation, request, options });
  return answer(transport, operation, request, options);
}

async function answer(
  transport: Transport,
  operation: Operation,
  request: OperationRequest,
  options: CallOptions,
): Promise<unknown> {
  const given = await transport.send(operation, request, options);
  if (operation.reply === 'none') return undefined;
  return operation.reply === 'bytes' ? byteStream(given.response, options) : jsonOf(given);
}

function takesRequest({ path, query, headers, mediaType }: Operation): boolean {
  return path.includes('{') || query.length > 0 || Object.keys(headers).length > 0 || mediaType !== undefined;
}

/** A key of the call's own makes its repetition safe. One that the body has is the same key. */
function withKey({ headers }: Operation, request: OperationRequest): OperationRequest {
  if (headers['idempotencyKey'] === undefined) return request;
  const { body, idempotencyKey = keyOf(body) ?? globalThis.crypto.randomUUID() } = request;
  return { ...request, idempotencyKey };
}

function keyOf(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'idempotency_key' in body ? body.idempotency_key : undefined;
}

function serverOf(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:')
    throw new TypeError(`${text} is not an http or https address`);
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}
