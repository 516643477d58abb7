import type Koa from 'koa';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import type { Contract } from './contract.ts';
import { requireSingleHeaders } from './header-list.ts';
import { HttpError } from './http-error.ts';
import type { InFlight } from './in-flight.ts';
import { invalidRequest } from './request-errors.ts';

/** Facts of a request while it passes through. */
export interface RequestState {
  requestId: string;
  logger: Logger;
  contract?: Contract;
  tenant?: string;
  /** The error that the request was answered with, or that broke its answer off, if it is our fault. */
  fault?: unknown;
  /** The client has the beginning of an answer, and was there when it ended too early. */
  isBrokenOff?: boolean;
}

export type HttpContext = Koa.ParameterizedContext<RequestState>;

/** Ids that a log line and a header may hold as they are. */
const saneId = /^[\w.:/+=-]{1,128}$/;

/** Names the request, and sets the headers that every answer carries. */
export function requestScope(deps: { logger: Logger; newId: NewId }, inFlight: InFlight): Koa.Middleware<RequestState> {
  return async (ctx, next) => {
    const given = ctx.req.headers['x-request-id'];
    const requestId = typeof given === 'string' && saneId.test(given) ? given : deps.newId();
    ctx.state.requestId = requestId;
    ctx.state.logger = deps.logger.child({ requestId });
    ctx.res.setHeader('X-Request-Id', requestId);
    ctx.res.setHeader('X-Content-Type-Options', 'nosniff');
    ctx.res.setHeader('Cache-Control', 'no-store');
    if (inFlight.isStopping) ctx.res.setHeader('Connection', 'close');
    await next();
  };
}

/** Checks that hold for every operation. Runs inside the error middleware. */
export function requireSaneRequest(ctx: HttpContext): void {
  const { rawHeaders, headers, httpVersion } = ctx.req;
  requireHost(headers.host, httpVersion);
  if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue')
    throw new HttpError({
      code: 'invalid',
      status: 417,
      error: 'expectation_failed',
      message: 'leave out the header Expect, or send 100-continue',
    });
  // HTTP/1.0 knows no codings of the transfer: what is in front of us may take the body for the next request.
  if (headers['transfer-encoding'] !== undefined && httpVersion !== '1.1')
    throw invalidRequest('Transfer-Encoding needs HTTP/1.1');
  // Node reads on as if the other codings were not there; a proxy before it may have read something else.
  if ((headers['transfer-encoding'] ?? 'chunked').toLowerCase() !== 'chunked')
    throw invalidRequest('Transfer-Encoding must be chunked');
  requireSingleHeaders(rawHeaders);
  const { path } = ctx;
  if (!path.includes('%')) return;
  try {
    decodeURIComponent(path);
  } catch {
    throw invalidRequest('the path is not percent-encoded UTF-8');
  }
}

/** A name or an address, and a port, as RFC 9110 §7.2 and RFC 3986 §3.2 allow them; a name holds what DNS does, and `_`. */
const host = /^(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/i;

/** Answers may be built on it, and proxies in front of us may have read something else out of it. */
function requireHost(value: string | undefined, httpVersion: string): void {
  if (value === undefined && httpVersion === '1.1') throw invalidRequest('send the header Host');
  if (value !== undefined && !host.test(value))
    throw invalidRequest('the header Host is not a host with or without a port');
}
