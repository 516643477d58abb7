/**
 * The address of a request: the processes that serve the same service and key, of which one answers. A host's commands
 * are sent to `{ service: 'relay.host', key: uid }`, which only the replica serves that holds the host's stream.
 */
export interface Address {
  /** Lower-case words joined by dots. */
  readonly service: string;
  /** Any text; absent where the service has one address. */
  readonly key?: string;
}

export interface RequestOptions {
  /** Longest wait for the answer, at most `busLimits.requestMaxMs`. The server of the request is given what is left of it. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** A request as its handler sees it. */
export interface BusRequest {
  readonly key: string;
  readonly body: Uint8Array;
  /** Aborts when the caller's time is over, or the grace of a shutdown. */
  readonly signal: AbortSignal;
}

/** Answers a request. An AppError reaches the caller with its code, reason and message; anything else as `internal`. */
export type HandleRequest = (request: BusRequest) => Promise<string | Uint8Array>;

/** An address that is served. */
export interface Responder {
  /** Resolves once the server knows of the address. */
  readonly ready: Promise<void>;
  /** Takes no more requests, and resolves when those under way are answered; after `graceMs` their signals abort. */
  close(graceMs: number): Promise<void>;
}

export interface ServeOptions {
  /**
   * `one`: each request reaches one of the processes that serve the address. `every`: to all of them. Default `one`.
   */
  readonly replicas?: 'one' | 'every';
  /** Requests at a time; those beyond it are refused with `unavailable`. Default `busLimits.requestsAtOnce`. */
  readonly atOnce?: number;
}

/**
 * Requests between processes, over core NATS: nothing is stored, and a request reaches at most the processes that serve
 * its address at that moment.
 */
export interface Requester {
  /**
   * The answer. Throws the handler's own AppError, or AppError with a reason: `unavailable` (`NoResponders`) at once
   * where no process serves the address, `limit_exceeded` (`RequestTooLarge`), `unavailable` (`EventBusUnavailable`).
   * It is `timeout` (`RequestTimeout`) where none answers in time, or the connection breaks meanwhile. That leaves open
   * whether the request was handled.
   */
  request(address: Address, body: string | Uint8Array, options: RequestOptions): Promise<Uint8Array>;
  /**
   * Sends news to every process that serves the address for `every`, and awaits no answer. News that no process hears, or
   * that a broken connection loses, is lost: a listener reads the truth elsewhere. Never throws.
   */
  tell(address: Address, body: string | Uint8Array): void;
  /**
   * The answers of every process that serves the address for `every`, as many as come until the time is over or
   * `expected` of them are there. A handler's error counts as no answer.
   */
  requestAll(
    address: Address,
    body: string | Uint8Array,
    options: RequestOptions & { readonly expected?: number },
  ): Promise<Uint8Array[]>;
  /**
   * Serves an address, from now on and over every loss of the connection.
   * @throws AppError `unavailable` where no event bus is configured: requests between processes need NATS.
   */
  serve(address: Address, handle: HandleRequest, options?: ServeOptions): Responder;
}
