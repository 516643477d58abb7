import type Koa from 'koa';
import type { Clock } from '../clock.ts';
import { cutText } from '../cut-text.ts';
import type { HttpMetrics } from './http-metrics.ts';
import type { RequestState } from './request-scope.ts';

/** Characters of a path in a log line. */
const MAX_PATH = 200;

/**
 * One line a request: never its query, headers or body. A fault of ours is logged with all that is known of it.
 * Requests that nobody has to prove anything for (`/health`) are routine.
 */
export function accessLog(deps: { clock: Clock; metrics?: HttpMetrics }): Koa.Middleware<RequestState> {
  const { clock, metrics } = deps;
  return async (ctx, next) => {
    const started = clock.now();
    await next();
    const { contract, tenant, fault, logger } = ctx.state;
    const ms = clock.now() - started;
    const { statusCode: status } = ctx.res;
    const { method } = ctx;
    const operation = contract?.operationId ?? 'unmatched';
    metrics?.requestDone({ operation, method, status, seconds: ms / 1000 });
    const remote = ctx.req.socket.remoteAddress;
    const path = ctx.path.length > MAX_PATH ? cutText(ctx.path, MAX_PATH) : ctx.path;
    const fields = { method, path, operation, status, ms, tenant, remote };
    if (fault !== undefined) logger.error({ ...fields, err: fault }, 'request failed');
    else if (contract?.access === 'public') logger.debug(fields, 'request');
    else logger.info(fields, 'request');
  };
}
