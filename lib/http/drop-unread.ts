import type { ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';

/** How often it is looked what a client has read. */
const lookMs = 30_000;
/** The least that a client reads from one look to the next, or all there is: 2 KiB a second. */
const leastBytes = 65_536;
/** An answer that takes memory is read within so many looks: four minutes. */
const looks = 8;

interface Unread {
  /** The memory of the answer, which others cannot have meanwhile. */
  readonly running: { readonly heldBytes: number };
  /** Nothing but the client keeps it from being sent. Another one may have nothing to read for a while. */
  readonly isWhole: boolean;
}

/**
 * Breaks off an answer that its client does not read, or too slowly for what it takes of memory. An answer is no longer than what
 * it takes, so that a large one has gone after `looks`. Counted are the bytes that have gone since the last look.
 * The answer has to be written in pieces: of one that is under way nothing is known. Resolves when the answer is sent or the
 * connection is closed.
 */
export async function dropUnread(response: ServerResponse, clock: Clock, unread: Unread): Promise<void> {
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  if (response.closed) return;
  for (let before = readOf(response, unread); !closed.signal.aborted; ) {
    await clock.sleep(lookMs, closed.signal);
    if (closed.signal.aborted) return;
    const now = readOf(response, unread);
    const least = Math.max(leastBytes, Math.min(before.held, now.held) / looks);
    if (now.isLeft && now.bytes - before.bytes < least) response.destroy();
    before = now;
  }
}

interface Look {
  /** Bytes of the connection that the client's system has taken. */
  readonly bytes: number;
  /** Some wait for the client. */
  readonly isLeft: boolean;
  /** Bytes of memory that the answer takes. */
  readonly held: number;
}

function readOf({ socket, writableLength, writableFinished }: ServerResponse, { running, isWhole }: Unread): Look {
  const waiting = socket?.writableLength ?? 0;
  return {
    bytes: (socket?.bytesWritten ?? 0) - waiting,
    isLeft: isWhole ? !writableFinished : Math.max(waiting, writableLength) > 0,
    held: running.heldBytes,
  };
}
