/** Bounds of calls and their streams. */
export const grpcLimits = {
  /** For how long a peer may leave what was sent to it unread before its stream is cut off; as for HTTP (`drop-unread.ts`). */
  sendMs: 30_000,
  /** How long a message has to arrive whole, from its first byte on; a request without a stream, from its headers on. */
  wholeMs: 30_000,
  /** Names and values of the headers of a call, with 32 bytes for each; as for HTTP. */
  headerBytes: 16 * 1024,
  /** How long a large message waits for room at a server that shares it: less than the silence after which a daemon counts as lost. */
  roomMs: 20_000,
  /** A message of so many bytes needs no room: HTTP/2 has a peer send four times as much before anybody reads. */
  smallBytes: 16 * 1024,
  /** Streams of one operation that a process holds at a time where the operation says nothing else. */
  streamsAtOnce: 10_000,
} as const;
