import type { RequestListener } from 'node:http';
import Koa from 'koa';
import type { Clock } from '../clock.ts';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import { accessLog } from './access-log.ts';
import { answerErrors } from './answer-errors.ts';
import { createEventStreams, type EventStreamOptions } from './event-stream.ts';
import type { HttpMetrics } from './http-metrics.ts';
import { createInFlight } from './in-flight.ts';
import { type RequestState, requestScope } from './request-scope.ts';
import type { Route } from './route.ts';
import { routing } from './routing.ts';
import type { CallerPort } from './serve-route.ts';

export interface HttpAppOptions<Caller> extends CallerPort<Caller> {
  readonly routes: readonly Route<Caller>[];
  readonly logger: Logger;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly metrics?: HttpMetrics;
  readonly events?: EventStreamOptions;
}

/** Routes behind one listener. */
export interface HttpApp {
  readonly clock: Clock;
  readonly handle: RequestListener;
  /** Headers of answers to what never became a request, which no handler sees. */
  readonly headers?: Readonly<Record<string, string>>;
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
  const inFlight = createInFlight(options.clock);
  const app = new Koa<RequestState>();
  const streams = createEventStreams(options.clock, options.events);
  app.use(requestScope(options, inFlight));
  app.use(accessLog(options));
  app.use(answerErrors(options.clock));
  app.use(routing(options.routes, { ...options, inFlight, streams }));
  // An error here is a connection that broke while an answer was on its way.
  app.on('error', (error: unknown) => logger.debug({ err: error }, 'answer not delivered'));
  const handle = app.callback();
  return {
    clock: options.clock,
    handle: (request, response) => void handle(request, response),
    stop: () => inFlight.stop(),
    abandon: () => inFlight.abandon(),
  };
}
