/** The two output streams of a command. */
export type StreamName = 'stdout' | 'stderr';

/** Bytes of both streams, as the command wrote them. */
export interface CapturedStreams {
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
}

/** Bytes collected up to a limit. */
interface ByteSink {
  /** Copies the bytes, as far as the limit allows; false where that was not all. */
  append(bytes: Uint8Array): boolean;
  /** A view of what was collected; not valid after the next `append`. */
  bytes(): Uint8Array;
}

/** Room of a collection before its first byte; most outputs need no more. */
const firstBytes = 4_096;

/** Collects bytes in one array that doubles, so that no more than twice their number is held. */
export function createByteSink(limit: number): ByteSink {
  let buffer = new Uint8Array(Math.min(limit, firstBytes));
  let length = 0;
  const grow = (needed: number): void => {
    const larger = new Uint8Array(Math.min(limit, Math.max(needed, 2 * buffer.length)));
    larger.set(buffer.subarray(0, length));
    buffer = larger;
  };
  return {
    append(bytes) {
      const taken = bytes.subarray(0, limit - length);
      const needed = length + taken.length;
      if (needed > buffer.length) grow(needed);
      buffer.set(taken, length);
      length = needed;
      return taken.length === bytes.length;
    },
    bytes: () => buffer.subarray(0, length),
  };
}
