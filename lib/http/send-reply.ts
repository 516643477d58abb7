import type { EventStreams } from './event-stream.ts';
import type { HttpMetrics } from './http-metrics.ts';
import type { InFlightRequest } from './in-flight.ts';
import type { HttpContext } from './request-scope.ts';
import type { Reply } from './route.ts';

export interface SendDeps {
  readonly streams: EventStreams;
  readonly metrics?: HttpMetrics;
}

/** Answers with what a handler returned. Of events it resolves when the last one is sent or the client is gone. */
export async function sendReply(
  deps: SendDeps,
  ctx: HttpContext,
  reply: Reply,
  running: Pick<InFlightRequest, 'signal'>,
): Promise<void> {
  if (reply.headers !== undefined) ctx.set(reply.headers);
  switch (reply.kind) {
    case 'json':
      ctx.res.setHeader('Content-Type', 'application/json');
      ctx.body = JSON.stringify(reply.value);
      return;
    case 'text':
      ctx.set('Content-Type', reply.mediaType);
      ctx.body = reply.text;
      return;
    case 'stream':
      ctx.set('Content-Type', reply.mediaType);
      ctx.body = reply.stream;
      return;
    case 'events':
      return ctx.method === 'HEAD'
        ? endWithoutEvents(ctx, reply.events)
        : sendEvents(deps, ctx, reply.events, running.signal);
  }
}

type Events = Extract<Reply, { kind: 'events' }>['events'];

/** Past Koa, which knows no answer without an end. */
async function sendEvents(deps: SendDeps, ctx: HttpContext, events: Events, signal: AbortSignal): Promise<void> {
  ctx.respond = false;
  const operation = ctx.state.contract?.operationId ?? '';
  const closed = deps.metrics?.streamOpened(operation);
  try {
    const end = await deps.streams.send(ctx.res, events, signal);
    if (end === 'cut_off') deps.metrics?.streamCutOff(operation);
  } catch (error) {
    // The answer has begun, so the log is all that is left to tell.
    ctx.state.fault = error;
  } finally {
    closed?.();
  }
}

/** HEAD of a stream: its headers, and no stream. */
async function endWithoutEvents(ctx: HttpContext, events: Events): Promise<void> {
  ctx.set('Content-Type', 'text/event-stream');
  ctx.status = 200;
  await events[Symbol.asyncIterator]().return?.();
}
