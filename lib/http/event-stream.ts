import type { ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import type { EventFrame, ServerSentEvent } from './route.ts';

/** How a stream ended. `finished`: the iterator did. `cut_off`: the client read too slowly. */
type StreamEnd = 'finished' | 'left' | 'stopped' | 'cut_off';

export interface EventStreamOptions {
  /** Default 1 MiB. */
  readonly maxBacklogBytes?: number;
  /** Default 15 s (requirements AMB-030). */
  readonly keepAliveMs?: number;
}

/** Sends server-sent events to any number of clients, with one timer for all of them. */
export interface EventStreams {
  /**
   * Answers with the events until they end, the client leaves or reads too slowly, or `signal` aborts. Rejects with
   * what the iterator throws; the connection is then broken off, so that the client can tell and ask again.
   */
  send(response: ServerResponse, events: AsyncIterable<EventFrame>, signal: AbortSignal): Promise<StreamEnd>;
}

/** Proxies that gather small pieces into large ones would hold back what is sent as it happens. */
export const unbuffered = { 'X-Accel-Buffering': 'no' };

const headers = { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store', ...unbuffered };

/** How long a client has for what it has not read when its stream is over. */
const lastReadMs = 10_000;

const keepAlive = Buffer.from(': keep-alive\n\n');

/** The bytes of an event. Throws on a line break in the id or the event's name. */
export function encodeEvent({ id, event, data }: ServerSentEvent): Buffer {
  for (const field of [id, event]) {
    if (field !== undefined && /[\r\n\0]/.test(field)) throw new RangeError('an event id or name holds a line break');
  }
  const lines = [id === undefined ? '' : `id: ${id}\n`, event === undefined ? '' : `event: ${event}\n`];
  return Buffer.from(`${lines.join('')}data: ${JSON.stringify(data)}\n\n`);
}

/** A client that is being sent events. */
interface Stream {
  readonly response: ServerResponse;
  readonly maxBacklogBytes: number;
  /** When something was sent last, or the stream began. */
  lastAt: number;
  isCutOff: boolean;
}

export function createEventStreams(clock: Clock, options: EventStreamOptions = {}): EventStreams {
  const { maxBacklogBytes = 1_048_576, keepAliveMs = 15_000 } = options;
  const open = createOpenStreams(clock, keepAliveMs);
  return {
    async send(response, events, signal) {
      const stream: Stream = { response, maxBacklogBytes, lastAt: clock.now(), isCutOff: false };
      response.writeHead(200, headers);
      response.flushHeaders();
      open.enter(stream);
      try {
        const isOver = await pass(events, signal, (frame) => write(stream, frame, clock.now()));
        response.end();
        return endOf(stream, isOver);
      } catch (error) {
        // Delivers what was sent, and then no end: the client can tell that there was more to come.
        response.write(': broken off\n\n', () => response.destroy());
        throw error;
      } finally {
        open.leave(stream);
        void closeAtLast(response, clock);
      }
    },
  };
}

/** From this part of the interval on a silent stream is sent a comment, where another one is. */
const nearlyDue = 0.9;

/** Those under way. Each idle one gets a comment; the timer ends with the last of them. */
function createOpenStreams(clock: Clock, keepAliveMs: number) {
  const open = new Set<Stream>();
  let noneLeft = new AbortController();

  async function keepAllAlive(over: AbortSignal): Promise<void> {
    for (;;) {
      let oldest = Number.POSITIVE_INFINITY;
      for (const { lastAt } of open) oldest = Math.min(oldest, lastAt);
      await clock.sleep(oldest + keepAliveMs - clock.now(), over);
      if (over.aborted) return;
      const now = clock.now();
      // Those that are nearly due go along, so that the timer does not fire for each of them.
      for (const stream of open) if (now - stream.lastAt >= keepAliveMs * nearlyDue) write(stream, keepAlive, now);
    }
  }
  return {
    enter(stream: Stream): void {
      open.add(stream);
      if (open.size > 1) return;
      noneLeft = new AbortController();
      void keepAllAlive(noneLeft.signal);
    },
    leave(stream: Stream): void {
      open.delete(stream);
      if (open.size === 0) noneLeft.abort();
    },
  };
}

/** Sends bytes, unless the client has not read what came before: what it has not read is held for it here. */
function write(stream: Stream, frame: Uint8Array, now: number): void {
  const { response, maxBacklogBytes } = stream;
  stream.lastAt = now;
  if (response.destroyed) return;
  stream.isCutOff = response.writableLength + frame.byteLength > maxBacklogBytes;
  if (stream.isCutOff) response.destroy();
  else response.write(frame);
}

/** A client that never reads the last of it does not keep its connection for ever. */
async function closeAtLast(response: ServerResponse, clock: Clock): Promise<void> {
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  if (!response.destroyed) await clock.sleep(lastReadMs, closed.signal);
  response.destroy();
}

function endOf({ response, isCutOff }: Stream, isOver: boolean): StreamEnd {
  if (isCutOff) return 'cut_off';
  if (response.destroyed) return 'left';
  return isOver ? 'finished' : 'stopped';
}

/** Takes frames until there are no more, or until no client reads them. True in the first case. */
async function pass(
  events: AsyncIterable<EventFrame>,
  signal: AbortSignal,
  send: (frame: Uint8Array) => void,
): Promise<boolean> {
  const iterator = events[Symbol.asyncIterator]();
  const release = (): void => void iterator.return?.().then(undefined, () => undefined);
  signal.addEventListener('abort', release, { once: true });
  try {
    while (!signal.aborted) {
      const { done, value } = await iterator.next();
      if (done === true) return !signal.aborted;
      send(value instanceof Uint8Array ? value : encodeEvent(value));
    }
    release();
    return false;
  } finally {
    signal.removeEventListener('abort', release);
  }
}
