import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { jsonText } from '../json-text.ts';
import { createLoopTurns } from '../loop-turns.ts';
import { dropUnread } from './drop-unread.ts';
import { type EventStreams, unbuffered } from './event-stream.ts';
import type { HttpMetrics } from './http-metrics.ts';
import type { InFlightRequest } from './in-flight.ts';
import { jsonLength } from './json-length.ts';
import { partPieces, partsLength } from './json-parts.ts';
import { jsonPieces } from './json-pieces.ts';
import type { HttpContext, RequestState } from './request-scope.ts';
import type { Reply } from './route.ts';
import { statusOf } from './success-statuses.ts';

export interface SendDeps {
  readonly streams: EventStreams;
  readonly clock: Clock;
  readonly metrics?: HttpMetrics;
}

/** Answers with what a handler returned. For a stream it resolves when all of it is sent or the client is gone. */
export async function sendReply(
  deps: SendDeps,
  ctx: HttpContext,
  reply: Reply,
  running: InFlightRequest,
): Promise<void> {
  if (reply.kind === 'stream') await beginStream(reply, running);
  if (reply.headers !== undefined) ctx.set(reply.headers);
  switch (reply.kind) {
    case 'stream':
      ctx.set('Content-Type', reply.mediaType);
      ctx.status = 200;
      if (ctx.method === 'HEAD') return void reply.stream.destroy();
      void dropUnread(ctx.res, deps.clock, { running, isWhole: false });
      return sendStream(ctx, reply, running.signal);
    case 'events':
      return ctx.method === 'HEAD'
        ? endWithoutEvents(ctx, reply.events)
        : sendEvents(deps, ctx, reply.events, running.signal);
    default:
      return sendWhole(ctx, reply, running);
  }
}

type WholeReply = Extract<Reply, { kind: 'json' | 'text' | 'parts' | 'redirect' | 'accepted' | 'no_content' }>;

/** By Koa, which adds the length and leaves the body out of an answer to HEAD; a large text in pieces. */
function sendWhole(ctx: HttpContext, reply: WholeReply, running: InFlightRequest): Promise<void> | undefined {
  switch (reply.kind) {
    case 'json':
      return sendJson(ctx, reply.value, running);
    case 'text':
      return sendText(ctx, reply, running);
    case 'parts':
      return sendParts(ctx, reply, running);
    case 'redirect':
      ctx.status = statusOf.redirect;
      ctx.set('Location', reply.location);
      ctx.body = '';
      return undefined;
    case 'accepted':
      ctx.status = statusOf.accepted;
      ctx.body = '';
      return undefined;
    case 'no_content':
      ctx.status = statusOf.no_content;
      return undefined;
  }
}

/** Asks for room before the text is made: an answer that is refused would cost as much as one that is sent. */
async function sendJson(ctx: HttpContext, value: unknown, running: InFlightRequest): Promise<void> {
  const length = jsonLength(value, Number.POSITIVE_INFINITY);
  const room = running.answer(length);
  if (room !== undefined) await room;
  if (running.heldBytes > 0 && length > wholeJsonLength)
    return running.isSigned ? sendMade(ctx, value) : sendParted(ctx, value);
  await sendText(ctx, { text: jsonText(value) ?? '', mediaType: 'application/json' }, running);
}

/** Characters of JSON that one turn of the event loop makes: some ten milliseconds. */
const wholeJsonLength = 1_048_576;

/** The values of a signed call are counted as their text, and are let go before its client reads. */
async function sendMade(ctx: HttpContext, value: unknown): Promise<void> {
  const spend = createLoopTurns(wholeJsonLength);
  const made: Buffer[] = [];
  for (const piece of jsonPieces(value)) {
    made.push(Buffer.from(piece));
    await spend(piece.length);
  }
  ctx.res.setHeader('Content-Type', 'application/json');
  sendPieces(ctx, made);
}

type PartsReply = Extract<Reply, { kind: 'parts' }>;

async function sendParts(ctx: HttpContext, reply: PartsReply, running: InFlightRequest): Promise<void> {
  using _held = reply.held;
  const room = running.answer(reply.bytes);
  if (room !== undefined) await room;
  ctx.res.setHeader('Content-Type', reply.mediaType);
  const pieces = partPieces(reply.parts);
  if (running.heldBytes > 0) sendPieces(ctx, pieces, partsLength(reply.parts));
  else ctx.body = Buffer.concat([...pieces]);
}

/** Its length is not known before all of it is made, and no text of all of it is ever there. */
function sendParted(ctx: HttpContext, value: unknown): void {
  ctx.res.setHeader('Content-Type', 'application/json');
  sendPieces(ctx, ctx.method === 'HEAD' ? [] : jsonPieces(value));
}

async function sendText(
  ctx: HttpContext,
  { text, mediaType }: { readonly text: string; readonly mediaType: string },
  running: InFlightRequest,
): Promise<void> {
  const room = running.answer(text.length);
  if (room !== undefined) await room;
  ctx.res.setHeader('Content-Type', mediaType);
  // A client may read the text for minutes. The values that it was made of take many times as much.
  running.keepOnly(text.length);
  if (running.heldBytes > 0 && ctx.method !== 'HEAD') {
    const bytes = Buffer.from(text);
    sendPieces(ctx, piecesOf(bytes), bytes.length);
  } else ctx.body = text;
}

const pieceBytes = 32_768;

function* piecesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.subarray(at, at + pieceBytes);
}

/** How far a client has read is seen between two writes alone (`dropUnread`). */
function sendPieces(ctx: HttpContext, pieces: Iterable<Buffer | string>, length?: number): void {
  const { res } = ctx;
  ctx.respond = false;
  if (!ctx.writable) return void res.end();
  ctx.status = 200;
  if (length !== undefined) ctx.length = length;
  void writeAll(res, pieces).catch(() => res.destroy());
}

/** After a client that has gone no `drain` comes, and nothing refers to this any more. */
async function writeAll(res: ServerResponse, pieces: Iterable<Buffer | string>): Promise<void> {
  const spend = createLoopTurns(wholeJsonLength);
  for (const piece of pieces) {
    const hasRoom = res.write(piece);
    if (!hasRoom) await new Promise<void>((resolve) => res.once('drain', resolve));
    await spend(piece.length);
  }
  res.end();
}

type StreamReply = Extract<Reply, { kind: 'stream' }>;

/** Waits for the first bytes, unless they may never come: what fails before them is answered with its own status. */
async function beginStream({ stream, isEndless = false }: StreamReply, running: InFlightRequest): Promise<void> {
  try {
    if (isEndless) running.endAtStop('log');
    if (isEndless) running.signal.throwIfAborted();
    else await once(stream, 'readable', { signal: running.signal });
  } catch (error) {
    stream.destroy();
    throw running.signal.aborted ? new AppError('cancelled', 'no client waits any more', { cause: error }) : error;
  }
}

/** Past Koa, for whom an answer is done when it begins. One that breaks off does so visibly: it could pass for the whole. */
async function sendStream(ctx: HttpContext, reply: StreamReply, signal: AbortSignal): Promise<void> {
  const { stream, isEndless = false } = reply;
  if (isEndless) ctx.set(unbuffered);
  ctx.respond = false;
  ctx.res.flushHeaders();
  // The first event is why it broke off; the rest follows from it.
  let why: Pick<RequestState, 'fault' | 'isBrokenOff'> | undefined;
  stream.once('error', (fault: unknown) => (why ??= { fault, isBrokenOff: true }));
  signal.addEventListener('abort', () => (why ??= { isBrokenOff: !ctx.res.destroyed }), { once: true });
  await pipeline(stream, ctx.res, { signal }).catch(() => Object.assign(ctx.state, why));
}

type Events = Extract<Reply, { kind: 'events' }>['events'];

/** Past Koa, which knows no answer without an end. */
async function sendEvents(deps: SendDeps, ctx: HttpContext, events: Events, signal: AbortSignal): Promise<void> {
  ctx.respond = false;
  const operation = ctx.state.contract?.operationId ?? '';
  const closed = deps.metrics?.streamOpened(operation);
  try {
    const end = await deps.streams.send(ctx.res, events, { tenant: ctx.state.tenant ?? '', signal });
    if (end === 'cut_off') deps.metrics?.streamCutOff(operation);
  } catch (error) {
    // The answer has begun, so the log is all that is left to tell.
    ctx.state.fault = error;
    ctx.state.isBrokenOff = true;
  } finally {
    closed?.();
  }
}

/** HEAD of a stream: its headers, and no stream. */
async function endWithoutEvents(ctx: HttpContext, events: Events): Promise<void> {
  ctx.set('Content-Type', 'text/event-stream');
  ctx.status = 200;
  await events[Symbol.asyncIterator]().return?.();
}
