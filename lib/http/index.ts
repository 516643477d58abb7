export { encodeEvent } from './event-stream.ts';
export { createHttpApp, type HttpApp } from './http-app.ts';
export { HttpError } from './http-error.ts';
export type { HttpMetrics } from './http-metrics.ts';
export { type Listener, listen } from './listener.ts';
export { createRateLimit, type RateLimit } from './rate-limit.ts';
export { defineRoute, json, noContent, type Route } from './route.ts';
