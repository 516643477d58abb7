import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import { type HeaderList, toHeaderList } from './header-list.ts';
import type { Contract } from './contract.ts';
import type { InFlight, InFlightRequest } from './in-flight.ts';
import { networkOf } from '../network-of.ts';
import type { RateLimit } from './rate-limit.ts';
import { createRequestReader, type ReadRequest, type RequestReader } from './request-reader.ts';
import type { HttpContext } from './request-scope.ts';
import type { Reply, RequestHead, Route } from './route.ts';
import { dropUnread } from './drop-unread.ts';
import { type SendDeps, sendReply } from './send-reply.ts';
import { statusOf, successStatuses } from './success-statuses.ts';

/** Senders of requests, and their limits. */
export interface CallerPort<Caller> {
  /** Tells who sent a request by its headers; throws AppError `unauthenticated` or `forbidden`. */
  readonly authenticate: (headers: IncomingHttpHeaders) => Promise<Caller>;
  /** Refuses a caller who holds none of these roles and scopes: throws AppError `forbidden`. Default: refuses none. */
  readonly authorize?: (caller: Caller, oneOf: readonly string[]) => void;
  /** For the log and the rate limit. */
  readonly tenantOf: (caller: Caller) => string;
  /** When a caller's proof ends, in milliseconds since the Unix epoch: endless answers end with it. Default: never. */
  readonly validUntil?: (caller: Caller) => number;
  readonly rateLimit?: RateLimit;
}

export interface ServeDeps<Caller> extends SendDeps, CallerPort<Caller> {
  readonly inFlight: InFlight;
}

/** Answers a request; `params` are those of its path. */
type Serve = (ctx: HttpContext, params: Readonly<Record<string, string>>) => Promise<void>;

/** Answers requests by a route: who asks is known before anything else of the request is looked at. */
export function serveRoute<Caller>(route: Route<Caller>, deps: ServeDeps<Caller>): Serve {
  const { contract, handle } = route;
  const read = createRequestReader(contract);
  const isStream = contract.success.kind === 'events';
  const statuses = successStatuses(contract);

  async function serve(ctx: HttpContext, params: Parameters<Serve>[1], running: InFlightRequest): Promise<void> {
    const caller = contract.access === 'bearer' ? await identify(deps, ctx) : undefined;
    if (caller !== undefined) running.validUntil(deps.validUntil?.(caller) ?? Number.POSITIVE_INFINITY);
    await countTo(route, running, { ctx, params, caller });
    if (caller !== undefined) authorize(deps, caller, { contract, query: ctx.querystring });
    if (isStream) running.endAtStop('events');
    await assertHead(route, { ctx, params, caller });
    // The parts have no name here, so that a body that is let go is nowhere else.
    const judge = judgeOf(route, caller);
    const request = new HandlerRequest(ctx, running, await readParts(read, { ctx, params, running, judge }), caller);
    // The type of a request follows from its contract where the route is defined; here it is only known to be one.
    const reply = await handle(request as never);
    if (isOpenEnded(reply)) request.dropBody();
    if (!statuses.has(statusOf[reply.kind]))
      throw new Error(`the contract of ${contract.operationId} has no ${reply.kind}`);
    await sendReply(deps, ctx, reply, running);
  }

  return async (ctx, params) => {
    ctx.state.contract = contract;
    const running = deps.inFlight.enter(contract.access);
    // Aborting after the answer is complete would wake listeners for nothing.
    ctx.res.once('close', () => (ctx.res.writableFinished ? undefined : running.abort()));
    try {
      await serve(ctx, params, running);
    } finally {
      leaveAtEnd(ctx, running, deps.clock);
    }
  };
}

/** An answer that may last for hours begins with nothing in memory: its stream counts what it needs later, while it needs that. */
const isOpenEnded = (reply: Reply): boolean =>
  reply.kind === 'events' || (reply.kind === 'stream' && reply.isEndless === true);

/** A large answer that is sent as a whole takes memory until the client has read it, or is dropped. */
function leaveAtEnd({ res }: HttpContext, running: InFlightRequest, clock: Clock): void {
  if (running.heldBytes === 0 || res.closed) return running.leave();
  res.once('close', () => running.leave());
  void dropUnread(res, clock, { running, isWhole: true });
}

/**
 * Values that few handlers read are made on demand. A class: getters of an object literal would give each request a
 * shape of its own, which outlives it.
 */
class HandlerRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly caller: unknown;
  readonly requestId: string;
  readonly remoteAddress: string;
  readonly logger: Logger;
  readonly #rawHeaders: readonly string[];
  readonly #running: InFlightRequest;
  #body: unknown;

  constructor({ req, state }: HttpContext, running: InFlightRequest, parts: ReadRequest, caller: unknown) {
    this.params = parts.params;
    this.query = parts.query;
    this.headers = parts.headers;
    this.#body = parts.body;
    this.caller = caller;
    this.requestId = state.requestId;
    this.remoteAddress = req.socket.remoteAddress ?? '';
    this.logger = state.logger;
    this.#rawHeaders = req.rawHeaders;
    this.#running = running;
  }

  get rawHeaders(): HeaderList {
    return toHeaderList(this.#rawHeaders);
  }

  reserve(bytes: number): Promise<void> {
    return this.#running.reserve(bytes);
  }

  ofTenant(tenant: string): void {
    this.#running.ofTenant(tenant);
  }

  get body(): unknown {
    return this.#body;
  }

  dropBody(): void {
    this.#body = undefined;
    this.#running.dropBody();
  }

  get signal(): AbortSignal {
    return this.#running.signal;
  }
}

async function identify<Caller>(deps: ServeDeps<Caller>, ctx: HttpContext): Promise<Caller> {
  const caller = await deps.authenticate(ctx.req.headers);
  const tenant = deps.tenantOf(caller);
  ctx.state.tenant = tenant;
  await deps.rateLimit?.take(tenant);
  return caller;
}

/**
 * Tells whose request it is, before a byte of its body is looked at. A pod that has proven nothing yet shares the part of all such
 * pods: its network would be one of many, and all of them together would leave little to pods that are known.
 */
async function countTo<Caller>(route: Route<Caller>, running: InFlightRequest, head: Head<Caller>): Promise<void> {
  const { contract, tenantOf } = route;
  const { state } = head.ctx;
  if (contract.access === 'bearer') return running.ownedBy(state.tenant ?? '');
  if (contract.access === 'pod') return running.ownedBy((await tenantOf?.(requestHead(head))) ?? '');
  const sender = head.params[contract.senderParam ?? ''];
  if (sender !== undefined) return running.ownedBy(sender, 'public');
  running.ownedBy(networkOf(head.ctx.req.socket.remoteAddress ?? ''));
}

interface Asked {
  readonly contract: Contract;
  readonly query: string;
}

/** Before parameters, headers and body are looked at: a caller without the right learns nothing of their form. */
function authorize<Caller>({ authorize: assert }: ServeDeps<Caller>, caller: Caller, { contract, query }: Asked): void {
  for (const { needs, needsFor } of contract.errors) {
    if (needs === undefined) continue;
    // A parameter that is given twice is refused as such behind this.
    const given = needsFor === undefined ? [] : new URLSearchParams(query).getAll(needsFor.query);
    if (needsFor === undefined || (given.length === 1 && given[0] === needsFor.value)) assert?.(caller, needs);
  }
}

interface Head<Caller> {
  readonly ctx: HttpContext;
  readonly params: Readonly<Record<string, string>>;
  readonly caller: Caller | undefined;
}

/** The route's verdicts on a request of this caller before the form of its parts is judged. */
async function assertHead<Caller>({ admit, assertQuery }: Route<Caller>, head: Head<Caller>): Promise<void> {
  const { ctx, caller } = head;
  admit?.(requestHead(head));
  await assertQuery?.(caller as never, new URLSearchParams(ctx.querystring));
}

const requestHead = ({ ctx: { req }, params }: Head<unknown>): RequestHead => ({
  params,
  rawHeaders: toHeaderList(req.rawHeaders),
  remoteAddress: req.socket.remoteAddress ?? '',
});

/** The route's verdict on a body of this caller. */
const judgeOf = <Caller>({ assertBody }: Route<Caller>, caller: Caller | undefined) =>
  assertBody && ((body: unknown) => assertBody(caller as never, body));

interface Unread {
  readonly ctx: HttpContext;
  readonly params: Parameters<Serve>[1];
  readonly running: InFlightRequest;
  readonly judge: ((body: unknown) => Promise<void>) | undefined;
}

function readParts(read: RequestReader, { ctx, params, running, judge }: Unread): ReturnType<RequestReader> {
  const { req, res, querystring: query } = ctx;
  // A client that waits to be asked for its body is asked only when everything else was in order.
  const onRead = (): void => (req.headers.expect === undefined ? undefined : res.writeContinue());
  const body = {
    message: req,
    onRead,
    begin: (giveWay: () => void) => running.beginBody(giveWay),
    reserve: (bytes: number) => running.reserve(bytes),
  };
  return read({ params, query, headers: req.headers, rawHeaders: req.rawHeaders, body, assertBody: judge });
}
