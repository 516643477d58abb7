/** Bounds of long streams. */
export const grpcLimits = {
  /** For how long a peer may leave what was sent to it unread before its stream is cut off; as for HTTP (`drop-unread.ts`). */
  sendMs: 30_000,
  /** Streams of one operation that a process holds at a time where the operation says nothing else. */
  streamsAtOnce: 10_000,
} as const;
