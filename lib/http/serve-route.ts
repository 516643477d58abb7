import { toHeaderList } from './header-list.ts';
import type { HttpAppOptions } from './http-app.ts';
import type { InFlight } from './in-flight.ts';
import { createRequestReader, type RequestReader } from './request-reader.ts';
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

  async function serve(ctx: HttpContext, signal: AbortSignal): Promise<void> {
    const caller = contract.access === 'bearer' ? await identify(deps, ctx) : undefined;
    const parts = await readParts(read, ctx);
    const { requestId, logger } = ctx.state;
    const rawHeaders = toHeaderList(ctx.req.rawHeaders);
    // The type of a request follows from its contract where the route is defined; here it is only known to be one.
    const reply = await handle({ ...parts, caller, rawHeaders, requestId, logger, signal } as never);
    await sendReply(deps, ctx, reply, signal);
  }

  return async (ctx) => {
    ctx.state.contract = contract;
    const { controller, leave } = deps.inFlight.enter(isStream);
    // Aborting after the answer is complete would wake listeners for nothing.
    ctx.res.once('close', () => (ctx.res.writableFinished ? undefined : controller.abort()));
    try {
      await serve(ctx, controller.signal);
    } finally {
      leave();
    }
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
