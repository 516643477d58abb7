import type { Readable } from 'node:stream';
import type { Logger } from '../logger.ts';
import type { JsonPart } from './json-parts.ts';
import type { Contract, HeadersOf, ParamsOf, QueryOf, RequestBodyOf } from './contract.ts';

/** A request that was parsed, validated and, where the contract asks for it, authenticated. */
export interface RouteRequest<C extends Contract, Caller> {
  readonly params: ParamsOf<C>;
  readonly query: QueryOf<C>;
  readonly headers: HeadersOf<C>;
  readonly body: RequestBodyOf<C>;
  /** The caller. Undefined unless the contract's access is `bearer`. */
  readonly caller: C['access'] extends 'bearer' ? Caller : undefined;
  /** Every header as it came, names in lower case, one entry for each time it was sent. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  readonly requestId: string;
  /** Address at the other end of the connection, which may be a proxy's. */
  readonly remoteAddress: string;
  /**
   * Waits until the tenant's share of memory has room for so many bytes, which are given back with the answer. Replaces
   * what was reserved before, also for the parsed body. Throws HttpError 503 where there is no room for long.
   */
  reserve(bytes: number): Promise<void>;
  /**
   * Tells for which tenant a signed call is, once it holds a token of it, or a request of a pod. Its body and its
   * answer count to the share of that tenant. Throws HttpError 503 where there is no room; for a signed call 429 where
   * the share is used.
   */
  ofTenant(tenant: string): void;
  /** Lets the body go before the answer: a request that waits for long holds no memory for it. `body` is undefined then. */
  dropBody(): void;
  /** Writes the request id on every line. */
  readonly logger: Logger;
  /**
   * Aborts when the client is gone, or when the server's grace is over. For an operation that answers with events, or
   * whose answer is endless, it aborts as soon as the server begins to stop.
   */
  readonly signal: AbortSignal;
}

/** One event of a `text/event-stream`. */
export interface ServerSentEvent {
  /** The id that a client sends back as Last-Event-ID. */
  readonly id?: string;
  readonly event?: string;
  /** Sent as one line of JSON. */
  readonly data: unknown;
}

/** An event, or the bytes that `encodeEvent` made of it, so that a thousand clients share one encoding. */
export type EventFrame = ServerSentEvent | Uint8Array;

/**
 * The answer of a handler, whose status the contract names (`success-statuses.ts`): a value to send as JSON, text, a stream of bytes, or server-sent events. An
 * event is taken once the client's system has taken those before it; while nothing is taken a source holds no more than
 * `unreadLimits.aheadBytes`. The iterator's `return` is called when the client leaves; a generator must wake up by the
 * request's `signal` as well.
 */
export type Reply = { readonly headers?: Readonly<Record<string, string>> } & (
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'text'; readonly text: string; readonly mediaType: string }
  | {
      readonly kind: 'parts';
      readonly parts: readonly JsonPart[];
      readonly mediaType: string;
      /** Bytes of memory that the parts take until the client has read them. */
      readonly bytes: number;
      /** Counts them until the answer does. */
      readonly held: Disposable;
    }
  | {
      readonly kind: 'stream';
      readonly stream: Readable;
      readonly mediaType: string;
      /** Has no end of its own: broken off when the server begins to stop. Default false. */
      readonly isEndless?: boolean;
      /** The same as one value, for a caller of this process, who reads no stream. */
      readonly whole?: () => Promise<unknown>;
    }
  | { readonly kind: 'events'; readonly events: AsyncIterable<EventFrame> }
  /** To a path of this server. */
  | { readonly kind: 'redirect'; readonly location: string }
  | { readonly kind: 'accepted' }
  /** The operation returns no body, or the stream has ended and the client must not reconnect. */
  | { readonly kind: 'no_content' }
);

/** Facts of a request before its body is read. */
export interface RequestHead {
  /** Those of its path, not validated yet. */
  readonly params: Readonly<Record<string, string>>;
  /** As in a request. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  /** As in a request. */
  readonly remoteAddress: string;
}

/** Throws for a request whose head alone says that it will be refused, so that its body is not read. */
type Admit = (head: RequestHead) => void;

/** The tenant of the pod that sent a request, as far as its head proves it. */
type TenantOf = (head: RequestHead) => Promise<string | undefined>;

/** A contract with what fulfils it. */
export interface Route<Caller> {
  readonly contract: Contract;
  readonly admit?: Admit;
  /**
   * For access `pod`: its body counts to this tenant from the first byte on. Without one it counts among those of strangers until the
   * handler has called `ofTenant`.
   */
  readonly tenantOf?: TenantOf;
  /** Throws for a query that its caller may not send, before the form of the request is judged. Default: any may be sent. */
  readonly assertQuery?: (caller: never, query: URLSearchParams) => Promise<void>;
  /** Throws for a JSON body that its caller may not send, before the form of the body is judged. Default: any may be sent. */
  readonly assertBody?: (caller: never, body: unknown) => Promise<void>;
  // The request's type is known where the route is defined; behind this line only the contract counts.
  readonly handle: (request: never) => Promise<Reply>;
  /** Never set: it only ties the type of its callers to the route. */
  readonly caller?: Caller;
}

/** Joins a contract and its handler, whose request and caller follow from the contract. */
export function defineRoute<C extends Contract, Caller>(
  contract: C,
  handle: (request: RouteRequest<C, Caller>) => Promise<Reply>,
  admit?: Admit,
): Route<Caller> {
  return { contract, handle, admit };
}

/** Answers a contract of success `none`. */
export const noContent: Reply = { kind: 'no_content' };

/** The usual answer. */
export function json(value: unknown): Reply {
  return { kind: 'json', value };
}
