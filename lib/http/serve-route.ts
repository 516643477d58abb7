import { toHeaderList } from './header-list.ts';
import type { HttpAppOptions } from './http-app.ts';
import type { InFlight, InFlightRequest } from './in-flight.ts';
import { createRequestReader, type ReadRequest, type RequestReader } from './request-reader.ts';
import type { HttpContext } from './request-scope.ts';
import type { Route } from './route.ts';
import { type SendDeps, sendReply } from './send-reply.ts';

export interface ServeDeps<Caller>
  extends SendDeps,
    Pick<HttpAppOptions<Caller>, 'authenticate' | 'tenantOf' | 'rateLimit'> {
  readonly inFlight: InFlight;
}

/** Answers requests by a route: who asks is known before anything else of the request is looked at. */
export function serveRoute<Caller>(route: Route<Caller>, deps: ServeDeps<Caller>): (ctx: HttpContext) => Promise<void> {
  const { contract, handle } = route;
  const read = createRequestReader(contract);
  const isStream = contract.success.kind === 'events';

  async function serve(ctx: HttpContext, running: InFlightRequest): Promise<void> {
    const caller = contract.access === 'bearer' ? await identify(deps, ctx) : undefined;
    const parts = await readParts(read, ctx);
    // The type of a request follows from its contract where the route is defined; here it is only known to be one.
    const reply = await handle(requestOf(ctx, running, parts, caller) as never);
    await sendReply(deps, ctx, reply, running);
  }

  return async (ctx) => {
    ctx.state.contract = contract;
    const running = deps.inFlight.enter(isStream);
    // Aborting after the answer is complete would wake listeners for nothing.
    ctx.res.once('close', () => (ctx.res.writableFinished ? undefined : running.abort()));
    try {
      await serve(ctx, running);
    } finally {
      running.leave();
    }
  };
}

/** What few handlers look at is made when they do. */
function requestOf({ req, state }: HttpContext, running: InFlightRequest, parts: ReadRequest, caller: unknown): object {
  return {
    params: parts.params,
    query: parts.query,
    headers: parts.headers,
    body: parts.body,
    caller,
    requestId: state.requestId,
    logger: state.logger,
    get rawHeaders() {
      return toHeaderList(req.rawHeaders);
    },
    get signal() {
      return running.signal;
    },
  };
}

async function identify<Caller>(deps: ServeDeps<Caller>, ctx: HttpContext): Promise<Caller> {
  const caller = await deps.authenticate(ctx.req.headers);
  const tenant = deps.tenantOf(caller);
  ctx.state.tenant = tenant;
  await deps.rateLimit?.take(tenant);
  return caller;
}

function readParts(read: RequestReader, ctx: HttpContext): ReturnType<RequestReader> {
  const { req, res, params = {}, querystring: query } = ctx;
  // A client that waits to be asked for its body is asked only when everything else was in order.
  const onRead = (): void => (req.headers.expect === undefined ? undefined : res.writeContinue());
  return read({ params, query, headers: req.headers, rawHeaders: req.rawHeaders, body: { message: req, onRead } });
}
