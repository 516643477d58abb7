import type { IncomingHttpHeaders, RequestListener } from 'node:http';
import { Router } from '@koa/router';
import Koa from 'koa';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import { accessLog } from './access-log.ts';
import { answerErrors } from './answer-errors.ts';
import { createEventStreams, type EventStreamOptions } from './event-stream.ts';
import type { HttpMetrics } from './http-metrics.ts';
import { createInFlight } from './in-flight.ts';
import type { RateLimit } from './rate-limit.ts';
import { type HttpContext, type RequestState, requestScope } from './request-scope.ts';
import type { Route } from './route.ts';
import { serveRoute } from './serve-route.ts';
import { refuseUnmatched, requireNarrowest } from './unmatched.ts';

export interface HttpAppOptions<Caller> {
  readonly routes: readonly Route<Caller>[];
  /** Tells who sent a request by its headers; throws AppError `unauthenticated` or `forbidden`. */
  readonly authenticate: (headers: IncomingHttpHeaders) => Promise<Caller>;
  /** For the log and the rate limit. */
  readonly tenantOf: (caller: Caller) => string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly metrics?: HttpMetrics;
  readonly rateLimit?: RateLimit;
  readonly events?: EventStreamOptions;
}

/** Routes behind one listener. */
export interface HttpApp {
  readonly handle: RequestListener;
  /** Ends event streams and closes each connection after the answer under way. */
  stop(): void;
  /** Tells every handler that still runs to give up. */
  abandon(): void;
}

/**
 * Everything between a socket and a handler: request id, errors, access log, authentication, rate limit, strict
 * parsing and validation by contract, and the answer.
 */
export function createHttpApp<Caller>(options: HttpAppOptions<Caller>): HttpApp {
  const { logger } = options;
  const inFlight = createInFlight();
  const app = new Koa<RequestState>();
  const router = createRouter(options, inFlight);
  app.use(requestScope(options, inFlight));
  app.use(accessLog(options));
  app.use(answerErrors(options.clock));
  app.use(router.routes() as Koa.Middleware<RequestState>);
  app.use(refuseUnmatched);
  // What reaches this is a connection that broke while an answer was on its way.
  app.on('error', (error: unknown) => logger.debug({ err: error }, 'answer not delivered'));
  const handle = app.callback();
  return {
    handle: (request, response) => void handle(request, response),
    stop: () => inFlight.stop(),
    abandon: () => inFlight.abandon(),
  };
}

function createRouter<Caller>(options: HttpAppOptions<Caller>, inFlight: ReturnType<typeof createInFlight>) {
  const router = new Router({ sensitive: true, strict: true, exclusive: 'specificity' });
  const deps = { ...options, inFlight, streams: createEventStreams(options.clock, options.events) };
  for (const route of options.routes) {
    const { method, path } = route.contract;
    const serve = serveRoute(route, deps);
    const parameters = path.split('{').length - 1;
    router.register(path.replaceAll(/\{(\w+)\}/g, ':$1'), [method], (context) => {
      const ctx = context as unknown as HttpContext;
      requireNarrowest(ctx, parameters);
      return serve(ctx);
    });
  }
  return router;
}
