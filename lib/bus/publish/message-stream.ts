import type { Retention } from '../bus-config.ts';

/**
 * A stream of our own: messages of tenants, each under a key, kept until age or size drops the oldest. Reading and
 * acknowledging remove nothing.
 */
export interface StreamDefinition {
  /** Lower-case word, such as `conversations`. */
  readonly name: string;
  /** `unbounded`: by age alone, or by the bound that `share` says. */
  readonly retention: Pick<Retention, 'maxAgeMs'> & { readonly maxBytes: number | 'unbounded' };
  /** A record of what was done: no client can take a message out, and each subject has a share (ADR 0048). */
  readonly isRecord?: boolean;
  /** How many messages of one subject the stream keeps. Default: any number, or the subject's share of a record. */
  readonly newest?: number;
  /** The stream is one of several, one for each tenant, that have a bound of bytes together (ADR 0085). */
  readonly share?: { readonly of: string; readonly tenant: string; readonly maxBytes: number };
  /** Readers follow long logs: a page is one request to any replica of the stream, and the leader says that there is no more (ADR 0131). */
  readonly inBatches?: boolean;
}

export interface NewMessage {
  readonly tenant: string;
  /** The object that the message belongs to, such as an execution's id. Any text. */
  readonly key: string;
  readonly body: string | Uint8Array;
  /**
   * The stream stores one message of an id within ten minutes; derive it from the fact where that may be published
   * twice.
   */
  readonly id?: string;
  /**
   * Sequence of the last message under the same key that the writer knows of, 0 for none: with another one between, the
   * message is not stored. Absent: no matter what is there.
   */
  readonly after?: number;
}

export interface StreamMessage {
  readonly tenant: string;
  readonly key: string;
  /** Place in the stream; rises, with gaps. */
  readonly sequence: number;
  readonly body: Uint8Array;
  /** When the server stored it. RFC 3339. */
  readonly time: string;
}

interface LogQuery {
  readonly tenant: string;
  readonly key: string;
  readonly after: number;
  /** Most bytes of bodies together, unless the first message alone has more. All readers of a process share one connection. */
  readonly bytes: number;
}

interface ScanQuery extends Pick<LogQuery, 'after' | 'bytes'> {
  /** Undefined: of all tenants, and of none. */
  readonly tenant: string | undefined;
}

/** Places of a stream. */
export interface StreamBounds {
  readonly first: number;
  readonly last: number;
}

/** Calls throw AppError `unavailable` where the bus cannot be reached, which leaves open whether a message was stored. */
export interface MessageStream {
  /**
   * The sequence of the stored message, also where an earlier attempt with the same id stored it; undefined where another
   * writer was first. Throws AppError `limit_exceeded` for
   * a message that is larger than the server takes.
   */
  append(message: NewMessage): Promise<number | undefined>;
  /** The same, and waits for nothing: a message that is lost with the connection, or refused, is lost. */
  note(message: Omit<NewMessage, 'after'>): void;
  /** Messages under one key with a sequence above `after`, the oldest first, at most `busLimits.pageMessages` of them. */
  read(query: LogQuery): Promise<StreamMessage[]>;
  /** The newest message under one key, by the leader of the stream. */
  last(query: { readonly tenant: string; readonly key: string }): Promise<StreamMessage | undefined>;
  /** The same, of a stream that is made by writers alone: undefined where there is none. It takes two seconds at most. */
  peek(query: { readonly tenant: string; readonly key: string }): Promise<StreamMessage | undefined>;
  /** Messages of one tenant, or of all, with a sequence above `after`, the oldest first, at most a page of them. */
  scan(query: ScanQuery): Promise<StreamMessage[]>;
  /** The oldest message that the stream keeps; undefined where it keeps none. */
  oldest(): Promise<StreamMessage | undefined>;
  /** Sequences of the oldest message that is kept and of the newest there has been; `first` is `last + 1` where none is kept. */
  bounds(): Promise<StreamBounds>;
  /** A sequence that every message which was stored at `ms` (since the epoch) or later is above. */
  before(ms: number): Promise<number>;
}

/** Logs of tenants that have one bound of bytes together (ADR 0085). */
export interface TenantLogsDefinition {
  /** Lower-case word, such as `conversations`. */
  readonly name: string;
  /** `maxBytes`: of all tenants. A tenant that has more than its share loses its own oldest messages. */
  readonly retention: Retention;
  /** As `StreamDefinition` says. */
  readonly inBatches?: boolean;
}

/** As `MessageStream` says; each tenant's messages are in a stream of the tenant's own, so places are of one tenant. */
export interface TenantLogs extends Pick<MessageStream, 'append' | 'read' | 'peek'> {
  bounds(tenant: string): Promise<StreamBounds>;
}

/** Streams of our own. */
export interface MessageStreams {
  stream(definition: StreamDefinition): MessageStream;
  /** Logs that no tenant's messages displace but its own. */
  logs(definition: TenantLogsDefinition): TenantLogs;
}
