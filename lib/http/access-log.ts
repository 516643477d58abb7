import type Koa from 'koa';
import type { Clock } from '../clock.ts';
import type { Contract } from './contract.ts';
import { cutText } from '../cut-text.ts';
import type { LogFields } from '../logger.ts';
import { toErrorReply } from './error-reply.ts';
import type { HttpMetrics } from './http-metrics.ts';
import type { RequestState } from './request-scope.ts';

/** Characters of a path in a log line. */
const longestPath = 200;

/** A proxy's statement of its clients. Any client can forge it, and only addresses are logged. */
const addresses = /^[\d.:a-f[\], ]{1,200}$/i;

/** A dependency may be away for long, and every request meets that: interval between its log lines. */
const outageMs = 60_000;
const outageStatuses: ReadonlySet<number> = new Set([503, 504]);

/**
 * One line a request: never its query, its body, or what else its headers say. A fault is logged with all that is known
 * of it, an outage of a dependency once a minute. Requests without any credentials (`/health`) and those of pods are
 * routine.
 */
export function accessLog(deps: { clock: Clock; metrics?: HttpMetrics }): Koa.Middleware<RequestState> {
  const { clock, metrics } = deps;
  const write = createLineWriter(clock);
  return async (ctx, next) => {
    const started = clock.now();
    await next();
    const ms = clock.now() - started;
    const { contract, tenant } = ctx.state;
    const { statusCode: status } = ctx.res;
    const { method } = ctx;
    const operation = contract?.operationId ?? 'unmatched';
    metrics?.requestDone({ operation, method, status, seconds: ms / 1000 });
    const remote = ctx.req.socket.remoteAddress;
    const forwardedFor = addresses.exec(String(ctx.req.headers['x-forwarded-for']))?.[0];
    const path = cutText(ctx.path, longestPath);
    write(ctx.state, { method, path, operation, status, ms, tenant, remote, forwardedFor });
  };
}

type LineFields = LogFields & { readonly status: number };

function createLineWriter(clock: Clock): (state: RequestState, fields: LineFields) => void {
  const isOldNews = createOutageMemory(clock);
  return ({ contract, fault, isBrokenOff = false, logger }, known) => {
    const fields = isBrokenOff ? { ...known, aborted: true } : known;
    // An answer that has begun keeps its status; how bad its end is follows from what would have been answered.
    const status = isBrokenOff ? toErrorReply(fault).status : known.status;
    if (fault === undefined || isOldNews(status)) {
      logger[isRoutine(contract) ? 'debug' : 'info'](fields, 'request');
      return;
    }
    logger[levelOf(status)]({ ...fields, err: fault }, isBrokenOff ? 'answer broken off' : 'request failed');
  };
}

/** Probes, and pods of agents, which ask for the next command for as long as they run. */
const isRoutine = (contract: Contract | undefined): boolean =>
  contract?.access === 'public' || contract?.access === 'pod';

const levelOf = (status: number) => (status < 500 || outageStatuses.has(status) ? 'warn' : 'error');

function createOutageMemory(clock: Clock): (status: number) => boolean {
  let loggedAt = Number.NEGATIVE_INFINITY;
  return (status) => {
    if (!outageStatuses.has(status)) return false;
    const isOld = clock.now() - loggedAt < outageMs;
    if (!isOld) loggedAt = clock.now();
    return isOld;
  };
}
