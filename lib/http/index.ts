export {
  type Access,
  type BodyContract,
  type Contract,
  defineContract,
  type ErrorContract,
  type SuccessContract,
} from './contract.ts';
export { encodeEvent } from './event-stream.ts';
export { createHttpApp, type HttpApp, type HttpAppOptions } from './http-app.ts';
export { HttpError, type HttpErrorOptions, type RequestProblem } from './http-error.ts';
export type { HttpMetrics, RequestReport } from './http-metrics.ts';
export { type Listener, type ListenOptions, listen } from './listener.ts';
export { createRateLimit, type RateLimit } from './rate-limit.ts';
export {
  defineRoute,
  type EventFrame,
  json,
  type Reply,
  type Route,
  type RouteRequest,
  type ServerSentEvent,
} from './route.ts';
