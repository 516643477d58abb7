import type { ServerResponse } from 'node:http';
import type Koa from 'koa';
import type { Clock } from '../clock.ts';
import { toErrorReply } from './error-reply.ts';
import { type HttpContext, type RequestState, requireSaneRequest } from './request-scope.ts';

/** How long a client that still sends may read the answer before its connection is closed. */
const lingerMs = 1_000;

/** As some proxies write it down: the client left before there was an answer. */
const clientLeft = 499;

/** Turns whatever is thrown further in into the documented answer (requirements AMB-023). */
export function answerErrors(clock: Clock): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    try {
      requireSaneRequest(ctx);
      await next();
    } catch (error) {
      const reply = toErrorReply(error, ctx.state.contract);
      if (reply.isFault) ctx.state.fault = error;
      if (ctx.res.destroyed) return noteClientLeft(ctx);
      ctx.status = reply.status;
      ctx.set({ ...reply.headers, 'Content-Type': 'application/json' });
      ctx.body = JSON.stringify(reply.body);
      if (isStillSending(ctx)) linger(ctx, clock);
    }
  };
}

function noteClientLeft(ctx: HttpContext): void {
  ctx.respond = false;
  ctx.res.statusCode = clientLeft;
}

/** Bytes of a body that are dropped for the sake of keeping the connection. */
const smallBodyBytes = 65_536;

function isStillSending({ req }: HttpContext): boolean {
  const { 'transfer-encoding': encoding, 'content-length': length = '0' } = req.headers;
  return !req.complete && (encoding !== undefined || Number(length) > smallBodyBytes);
}

/**
 * Answers a client that has not sent its whole body. Closing at once would make its system throw the answer away
 * together with its unsent bytes, so that the client would see a broken connection and no reason. Bytes that it sends
 * in the meantime are dropped unread.
 */
function linger(ctx: HttpContext, clock: Clock): void {
  const { req, res } = ctx;
  const text = ctx.body as string;
  ctx.respond = false;
  ctx.set('Connection', 'close');
  ctx.length = Buffer.byteLength(text);
  if (ctx.method !== 'HEAD') res.write(text);
  else res.flushHeaders();
  const over = new AbortController();
  req.on('error', () => undefined);
  req.once('end', () => over.abort()).once('close', () => over.abort());
  req.resume();
  void clock.sleep(lingerMs, over.signal).then(() => endQuietly(res));
}

const endQuietly = (response: ServerResponse): void => void response.end();
