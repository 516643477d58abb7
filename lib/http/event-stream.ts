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
  isQuiet: boolean;
  isCutOff: boolean;
}

export function createEventStreams(clock: Clock, options: EventStreamOptions = {}): EventStreams {
  const { maxBacklogBytes = 1_048_576, keepAliveMs = 15_000 } = options;
  const open = createOpenStreams(clock, keepAliveMs);
  return {
    async send(response, events, signal) {
      const stream: Stream = { response, maxBacklogBytes, isQuiet: true, isCutOff: false };
      response.writeHead(200, headers);
      response.flushHeaders();
      open.enter(stream);
      try {
        const isOver = await pass(events, signal, (frame) => write(stream, frame));
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

/** Those under way. A comment goes to each in which nothing has happened; the timer goes with the last of them. */
function createOpenStreams(clock: Clock, keepAliveMs: number) {
  const open = new Set<Stream>();
  let noneLeft = new AbortController();

  async function keepAllAlive(over: AbortSignal): Promise<void> {
    for (;;) {
      for (const stream of open) stream.isQuiet = true;
      await clock.sleep(keepAliveMs, over);
      if (over.aborted) return;
      for (const stream of open) if (stream.isQuiet) write(stream, keepAlive);
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
function write(stream: Stream, frame: Uint8Array): void {
  const { response, maxBacklogBytes } = stream;
  if (response.destroyed) return;
  stream.isQuiet = false;
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

/** Takes frames until there are no more, or until nobody wants them. True in the first case. */
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
