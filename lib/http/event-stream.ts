import type { ServerResponse } from 'node:http';
import type { Clock } from '../clock.ts';
import { jsonText } from '../json-text.ts';
import type { EventFrame, ServerSentEvent } from './route.ts';
import { UnreadEvents, unreadLimits, type UnreadStream } from './unread-events.ts';

/** How a stream ended. `finished`: the iterator did. `cut_off`: no room was left for what its client has not read. */
type StreamEnd = 'finished' | 'left' | 'stopped' | 'cut_off';

export interface EventStreamOptions {
  /** Memory for events that clients have not read. Default `unreadLimits.poolBytes`. */
  readonly unreadBytes?: number;
  /** Default 15 s (requirements AMB-030). */
  readonly keepAliveMs?: number;
}

/** Sends server-sent events to any number of clients, with one timer for all of them. */
export interface EventStreams {
  /**
   * Answers with the events until they end, the client leaves, `signal` aborts, or no room is left for what the client has
   * not read. An event is taken once the client's system has taken what came before. Rejects with what the iterator
   * throws; the connection is then broken off, so that the client can tell and ask again.
   */
  send(response: ServerResponse, events: AsyncIterable<EventFrame>, of: StreamOwner): Promise<StreamEnd>;
}

interface StreamOwner {
  /** The tenant in whose share the unread events count. */
  readonly tenant: string;
  readonly signal: AbortSignal;
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
  return Buffer.from(`${lines.join('')}data: ${jsonText(data)}\n\n`);
}

/** A client that is being sent events. */
class Stream implements UnreadStream {
  readonly response: ServerResponse;
  readonly tenant: string;
  /** When something was sent last, or the stream began. */
  lastAt: number;
  isCutOff = false;

  constructor(response: ServerResponse, tenant: string, now: number) {
    this.response = response;
    this.tenant = tenant;
    this.lastAt = now;
  }

  get unreadBytes(): number {
    return this.response.destroyed ? 0 : this.response.writableLength;
  }

  cutOff(): void {
    this.isCutOff = true;
    this.response.destroy();
  }
}

export function createEventStreams(clock: Clock, options: EventStreamOptions = {}): EventStreams {
  const { unreadBytes, keepAliveMs = 15_000 } = options;
  const open = createOpenStreams(clock, keepAliveMs);
  const unread = new UnreadEvents(clock, unreadBytes);

  /** Resolves when the next frame may be taken. */
  async function write(stream: Stream, frame: Uint8Array, signal: AbortSignal): Promise<void> {
    const { response } = stream;
    stream.lastAt = clock.steadyMs();
    if (response.destroyed) return;
    if (stream.unreadBytes + frame.byteLength <= unreadLimits.freeBytes) return void response.write(frame);
    await unread.wait(stream, written(response, frame, signal));
  }
  return {
    async send(response, events, { tenant, signal }) {
      const stream = new Stream(response, tenant, clock.steadyMs());
      response.writeHead(200, headers);
      response.flushHeaders();
      open.enter(stream);
      try {
        const isOver = await pass(events, signal, (frame) => write(stream, frame, signal));
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

/** Resolves when the system has taken the bytes, the client has gone, or `signal` aborts. */
function written(response: ServerResponse, frame: Uint8Array, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('close', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    response.once('close', done);
    signal.addEventListener('abort', done, { once: true });
    response.write(frame, done);
  });
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
      await clock.sleep(oldest + keepAliveMs - clock.steadyMs(), over);
      if (over.aborted) return;
      const now = clock.steadyMs();
      // Those that are nearly due go along, so that the timer does not fire for each of them.
      for (const stream of open) if (now - stream.lastAt >= keepAliveMs * nearlyDue) keep(stream, now);
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

/** A client that has something to read needs no comment. */
function keep(stream: Stream, now: number): void {
  stream.lastAt = now;
  if (!stream.response.destroyed && stream.unreadBytes === 0) stream.response.write(keepAlive);
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

type Send = (frame: Uint8Array) => Promise<void>;

/** Takes frames until there are no more, or until no client reads them. True in the first case. */
async function pass(events: AsyncIterable<EventFrame>, signal: AbortSignal, send: Send): Promise<boolean> {
  const iterator = events[Symbol.asyncIterator]();
  const release = (): void => void iterator.return?.().then(undefined, () => undefined);
  signal.addEventListener('abort', release, { once: true });
  try {
    while (!signal.aborted) {
      if (await passOne(iterator, send)) return !signal.aborted;
    }
    release();
    return false;
  } finally {
    signal.removeEventListener('abort', release);
  }
}

/** True where there is none. A function of its own, so that a stream keeps no frame while it waits for the next one. */
async function passOne(iterator: AsyncIterator<EventFrame>, send: Send): Promise<boolean> {
  const { done, value } = await iterator.next();
  if (done === true) return true;
  await send(value instanceof Uint8Array ? value : encodeEvent(value));
  return false;
}
