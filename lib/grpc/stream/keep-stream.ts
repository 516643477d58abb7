import { type ClientDuplexStream, Metadata, type StatusObject, status } from '@grpc/grpc-js';
import type { Clock } from '../../clock.ts';
import { AppError } from '../../errors.ts';
import { type BackoffLimits, fullJitter } from '../../informer/backoff.ts';
import { grpcLimits } from '../limits.ts';
import { createMessagePipe, type MessagePipe } from './message-pipe.ts';

/** A stream to a server, as its client sees it. */
export interface ClientStream<In, Out> extends MessagePipe<In, Out> {
  /** Says that nothing more will be sent; the server may still answer. */
  end(): void;
  /** Aborts when the stream is over. */
  readonly signal: AbortSignal;
}

interface KeepStreamDeps {
  readonly clock: Clock;
  /** Between 0 and 1. */
  readonly random: () => number;
  /** Called at each stream's end, with the pause before the next one. */
  readonly onEnd?: (ended: { readonly code: string; readonly details: string; readonly pauseMs: number }) => void;
}

export interface KeepStreamOptions<In, Out> {
  /** Makes the call: `(metadata) => client.connect(metadata)`. */
  readonly open: () => ClientDuplexStream<Out, In>;
  /** Default: `grpcLimits.reconnectBaseMs` to `grpcLimits.reconnectMaxMs`. */
  readonly backoff?: BackoffLimits;
  readonly sendMs?: number;
}

/** Statuses that no repetition mends: the client has to be changed, or to enroll again. */
const final = new Set<status>([
  status.UNAUTHENTICATED,
  status.PERMISSION_DENIED,
  status.INVALID_ARGUMENT,
  status.UNIMPLEMENTED,
]);

/**
 * Holds a stream to a server until the signal aborts: each that ends is followed by another, after a pause anywhere
 * between nothing and a bound that doubles, so that the daemons of a relay that was restarted do not come back in one
 * moment. A server's `grpc-retry-pushback-ms` is the least pause.
 * @throws AppError `forbidden` for a status that no repetition mends; its message is the server's.
 */
export async function keepStream<In, Out>(
  deps: KeepStreamDeps,
  options: KeepStreamOptions<In, Out>,
  run: (stream: ClientStream<In, Out>) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const backoff = options.backoff ?? { baseMs: grpcLimits.reconnectBaseMs, maxMs: grpcLimits.reconnectMaxMs };
  for (let failures = 0; !signal.aborted; failures += 1) {
    const began = deps.clock.now();
    const ended = await runOnce(deps, options, { run, signal });
    if (signal.aborted) return;
    if (final.has(ended.code)) {
      throw new AppError('forbidden', ended.details, { reason: status[ended.code] });
    }
    // A stream that held for longer than the longest pause was no failure.
    if (deps.clock.now() - began > backoff.maxMs) failures = 0;
    const pauseMs = Math.max(pushbackOf(ended.metadata), fullJitter(backoff, failures, deps.random()));
    deps.onEnd?.({ code: status[ended.code], details: ended.details, pauseMs });
    await deps.clock.sleep(pauseMs, signal);
  }
}

interface Attempt<In, Out> {
  readonly run: (stream: ClientStream<In, Out>) => Promise<void>;
  readonly signal: AbortSignal;
}

/** One stream to its end, by whichever side. The error of `run` is that of a stream that has ended, or its own. */
async function runOnce<In, Out>(
  { clock }: KeepStreamDeps,
  { open, sendMs = grpcLimits.sendMs }: KeepStreamOptions<In, Out>,
  { run, signal }: Attempt<In, Out>,
): Promise<StatusObject> {
  const call = open();
  const over = new AbortController();
  const cancel = (): void => call.cancel();
  const { promise: ended, resolve } = Promise.withResolvers<StatusObject>();
  call.on('error', () => undefined).once('status', resolve);
  void ended.then(() => over.abort());
  signal.addEventListener('abort', cancel, { once: true });
  const pipe = createMessagePipe<In, Out>(call, { clock, signal: over.signal, sendMs, cut: cancel });
  const stream = {
    messages: pipe.messages,
    send: (message: Out) => pipe.send(message),
    end: () => void call.end(),
    signal: over.signal,
  };
  const own = await run(stream).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  // The handler is done: the rest of what the server says does not count.
  call.cancel();
  const answer = await ended;
  signal.removeEventListener('abort', cancel);
  if (own !== undefined && answer.code === status.CANCELLED && !isOfStream(own.error)) throw own.error;
  return { ...answer, metadata: answer.metadata ?? new Metadata() };
}

/** The stream's own end, as its handler met it. */
const isOfStream = (error: unknown): boolean =>
  error instanceof Error && (error.name === 'GrpcError' || ('code' in error && 'metadata' in error));

function pushbackOf(metadata: Metadata): number {
  const ms = Number(metadata.get('grpc-retry-pushback-ms')[0] ?? 0);
  return Number.isFinite(ms) && ms > 0 ? Math.min(ms, longestPushbackMs) : 0;
}

/** A server may not put a daemon to sleep for long. */
const longestPushbackMs = 60_000;
