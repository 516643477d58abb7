/** An operation as the runtime knows it; the table of them is generated. */
export interface Operation {
  readonly method: string;
  /** With parameters in braces. */
  readonly path: string;
  /** Whether a token is sent. */
  readonly bearer: boolean;
  readonly query: readonly string[];
  /** Names of parameters that are headers, with the header's name. */
  readonly headers: Readonly<Record<string, string>>;
  /** Media type of the body; absent where there is none. */
  readonly mediaType?: string;
  readonly reply: 'json' | 'events' | 'bytes' | 'none';
  /** Names of the events after which nothing follows. Without them a stream that ends is opened again. */
  readonly lastEvents?: readonly string[];
}

/** The parameters of a call by their names, and its body under `body`. */
export type OperationRequest = Readonly<Record<string, unknown>>;

/** Options of a single call. */
export interface CallOptions {
  /** Ends the call; it then throws the signal's reason. */
  readonly signal?: AbortSignal;
  /** Time until an answer has come or a stream has begun, of each attempt. Default: that of the client. */
  readonly timeoutMs?: number;
  /** Called with the headers of an answer that is a stream of events, at each connection. */
  readonly onHeaders?: (headers: Headers) => void;
}

/** One event of a stream. */
export interface ServerEvent<T> {
  readonly id: string | undefined;
  /** The event's name, `message` where the server gives none. */
  readonly event: string;
  readonly data: T;
}

/** An answer that is read as it comes. It can be read once. */
export interface ByteStream extends AsyncIterable<Uint8Array> {
  readonly mediaType: string;
  /** All of it as text. */
  text(): Promise<string>;
}
