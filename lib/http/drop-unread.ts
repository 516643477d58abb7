import type { ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';

/** A client reads so many bytes in this time, or all there are: 2 KiB a second. */
const least = { bytes: 65_536, inMs: 30_000 } as const;

/**
 * Breaks off an answer that its client does not read: what waits for it takes memory. Counted are the bytes that have gone since
 * the last look, so that a slow client has as long as it takes. The answer has to be written in pieces: of one that is under way
 * nothing is known. Resolves when the answer is sent or the connection is closed.
 */
export async function dropUnread(response: ServerResponse, clock: Clock): Promise<void> {
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  if (response.closed) return;
  for (let before = readOf(response); !closed.signal.aborted; ) {
    await clock.sleep(least.inMs, closed.signal);
    if (closed.signal.aborted) return;
    const read = readOf(response);
    if (read.left > 0 && read.bytes - before.bytes < least.bytes) response.destroy();
    before = read;
  }
}

/** Bytes of the connection that the client's system has taken, and bytes that wait. */
function readOf({ socket, writableLength }: ServerResponse): { readonly bytes: number; readonly left: number } {
  const waiting = socket?.writableLength ?? 0;
  return { bytes: (socket?.bytesWritten ?? 0) - waiting, left: Math.max(waiting, writableLength) };
}
