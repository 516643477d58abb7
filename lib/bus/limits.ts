/** Subject and headers of a message, in bytes, about. */
export const headBytes = 200;

/** Bounds of messages on the bus. */
export const busLimits = {
  /**
   * Body of a request or a reply. nats-server takes messages of 1 MiB where its configuration says nothing, headers
   * included; half of it leaves room for envelopes around a body.
   */
  requestBytes: 512 * 1024,
  /** Longest time that a request may set for its answer: the longest call of a unary gRPC method (`serve-unary.ts`). */
  requestMaxMs: 30_000,
  /** Requests that one service of a process answers at a time; those beyond it are refused at once. */
  requestsAtOnce: 256,
  /** Value that nats-server takes where its configuration says nothing. */
  messageBytes: 1_048_576,
  /** Messages of a page that is read from a stream. */
  pageMessages: 256,
  /** Bytes of a page, unless its first message alone has more. */
  pageBytes: 4 * 1_048_576,
  /** Bytes of a page that a reader may keep for long, unless its first message alone has more. */
  smallPageBytes: 65_536,
  /** For how long the server waits for word on a message before it delivers the message again. */
  ackWaitMs: 30_000,
  /** How often a message under way is announced as such; three times within `ackWaitMs`. */
  progressMs: 10_000,
  /** Longest handling of one message where its subscription says nothing else. */
  handleMs: 60_000,
  /** Deliveries of one message in all, where its subscription says nothing else. */
  attempts: 5,
  /** Delay before the second delivery, and the longest; doubled by each failure, at least half of it by chance. */
  retryBaseMs: 1_000,
  retryMaxMs: 60_000,
  /** Messages of one consumer that may be delivered and not yet acknowledged, over all replicas. */
  consumerWindow: 64,
  /** How long one request of a consumer for messages stays with the server. */
  pullMs: 30_000,
  /** After a consumer failed: first and longest pause before it tries again. */
  consumerRetryBaseMs: 250,
  consumerRetryMaxMs: 5_000,
  /** For how long a server tells watchers that a key of a watched bucket has ended by its time. */
  endMarkerMs: 60_000,
} as const;
