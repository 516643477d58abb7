import { type handleBidiStreamingCall, type ServerDuplexStream, status } from '@grpc/grpc-js';
import { startDeadline } from '../../deadline.ts';
import { type EndReport, type ReportDeps, startReport } from '../call-report.ts';
import { GrpcError, toGrpcFailure } from '../grpc-error.ts';
import { headerOf } from '../headers.ts';
import { grpcLimits } from '../limits.ts';
import { type Peer, readPeer } from '../peer.ts';
import type { MessageDecoder } from '../receive/message-decoder.ts';
import { cutStream, meterOf, readNoneAhead, releaseRead, vouchFor } from './call-internals.ts';
import { createMessagePipe, type MessagePipe, type PipeDeps } from './message-pipe.ts';
import { StreamLife } from './stream-life.ts';

interface ServeStreamDeps extends ReportDeps {
  /** Aborts when the server begins to stop; `listenGrpc` says so by `onDrain`. */
  readonly draining: AbortSignal;
  /** Receives the number of open streams of an operation. */
  readonly onOpen?: (operation: string, open: number) => void;
}

export interface StreamOptions {
  readonly operation: string;
  /** `required`: a client without a certificate of our authorities is refused. `optional`: the handler sees which it is. */
  readonly certificate: 'required' | 'optional';
  /** Default `grpcLimits.streamsAtOnce`. */
  readonly atOnce?: number;
  /** Default `grpcLimits.sendMs`. */
  readonly sendMs?: number;
}

/** A stream of a client, from its first byte to its status. */
export interface ServerStream<In, Out> extends MessagePipe<In, Out> {
  /** The subject of the certificate; undefined where the client has none that our authorities have signed. */
  readonly peer: Peer | undefined;
  /**
   * The client's values of a name, such as `authorization`; several values are joined with `, `. They are given once: a stream would
   * keep its token as long as it lasts.
   */
  takeHeader(name: string): string | undefined;
  /**
   * The tenant that pays for the large messages of the stream, where the server shares its memory (`listenGrpc`): no large one
   * is read before. Each has `most` bytes at most from now on; absent: as many as the method takes.
   */
  charge(tenant: string, most?: number): void;
  /** The caller has proved who it is: its connection counts no more as one of a stranger, until the stream is over. */
  vouch(): void;
  /** Aborts when the client is gone, its deadline is over, or the server breaks the stream off. */
  readonly signal: AbortSignal;
  /** Aborts when the server begins to stop: say goodbye and return. The stream is broken off after the server's grace. */
  readonly draining: AbortSignal;
}

/** A returned promise ends the stream with OK, an error with its status. It is awaited also where the client is gone. */
export type HandleStream<In, Out> = (stream: ServerStream<In, Out>) => Promise<void>;

/** Serves bidirectional streams of one operation. One line in the log for each, without content. */
export function serveStream<In, Out>(
  deps: ServeStreamDeps,
  options: StreamOptions,
  handle: HandleStream<In, Out>,
): handleBidiStreamingCall<In, Out> {
  const { sendMs = grpcLimits.sendMs } = options;
  const pipes = { clock: deps.clock, sendMs, cut: cutStream, onRead: noteRead, onAsk: noteAsked };
  let open = 0;
  const count = (change: number): void => {
    open += change;
    deps.onOpen?.(options.operation, open);
  };

  async function serve(call: ServerDuplexStream<In, Out>): Promise<void> {
    const peer = readPeer(call.getAuthContext().sslPeerCertificate);
    const report = startReport(deps, options.operation, peer);
    count(1);
    const life = new StreamLife();
    call.once('cancelled', () => life.end());
    // An error emitted without a reader would end the process.
    call.on('error', nothing);
    using _deadline = endAtDeadline(deps, call, life);
    try {
      assertWelcome(deps, options, { peer, open });
      await handle(new OpenStream(pipes, deps.draining, { call, peer, life }));
      end(call, report, undefined);
    } catch (error) {
      end(call, report, error);
    } finally {
      life.end();
      meterOf(call)?.over();
      count(-1);
    }
  }

  return (call) => void serve(call);
}

const nothing = (): void => undefined;

function noteRead(call: unknown, message: unknown): void {
  const meter = meterOf(call);
  if (meter === undefined) releaseRead(call);
  else meter.taken(Buffer.isBuffer(message) ? message.byteLength : Number.POSITIVE_INFINITY);
}

const noteAsked = (call: unknown): void => meterOf(call)?.asked();

interface OpenCall<In, Out> {
  readonly call: ServerDuplexStream<In, Out>;
  readonly peer: Peer | undefined;
  readonly life: StreamLife;
}

class OpenStream<In, Out> implements ServerStream<In, Out> {
  readonly peer: Peer | undefined;
  readonly draining: AbortSignal;
  readonly #call: ServerDuplexStream<In, Out>;
  readonly #life: StreamLife;
  readonly #pipe: MessagePipe<In, Out>;
  readonly #meter: MessageDecoder | undefined;

  constructor(pipes: PipeDeps, draining: AbortSignal, { call, peer, life }: OpenCall<In, Out>) {
    this.peer = peer;
    this.draining = draining;
    this.#call = call;
    this.#life = life;
    this.#meter = meterOf(call);
    if (this.#meter !== undefined) readNoneAhead(call);
    this.#pipe = createMessagePipe<In, Out>(call, life, pipes);
    this.#meter?.own(this.#pipe);
  }

  get messages(): AsyncIterable<In> {
    return this.#pipe.messages;
  }

  each(take: (message: In) => Promise<void>): Promise<void> {
    return this.#pipe.each(take);
  }

  get signal(): AbortSignal {
    return this.#life.signal;
  }

  send(message: Out): Promise<void> {
    return this.#pipe.send(message);
  }

  interrupt(problem: Error): void {
    this.#pipe.interrupt(problem);
  }

  charge(tenant: string, most?: number): void {
    this.#meter?.charge(tenant, most);
  }

  vouch(): void {
    vouchFor(this.#call);
  }

  takeHeader(name: string): string | undefined {
    const { metadata } = this.#call;
    const values = headerOf(metadata, name);
    metadata.remove(name);
    return values;
  }
}

function assertWelcome(
  { draining }: ServeStreamDeps,
  { certificate, atOnce = grpcLimits.streamsAtOnce }: StreamOptions,
  { peer, open }: { readonly peer: Peer | undefined; readonly open: number },
): void {
  if (certificate === 'required' && peer === undefined) {
    throw new GrpcError('unauthenticated', 'a client certificate is required');
  }
  if (draining.aborted) throw new GrpcError('unavailable', 'this replica is about to stop; connect again');
  if (open > atOnce) throw new GrpcError('unavailable', 'this replica holds too many streams; connect again');
}

/** A stream without a deadline costs no timer: a process may hold thousands. */
function endAtDeadline<In, Out>(
  { clock }: ServeStreamDeps,
  call: Pick<ServerDuplexStream<In, Out>, 'getDeadline'>,
  life: StreamLife,
): Disposable | undefined {
  const until = Number(call.getDeadline());
  if (until === Number.POSITIVE_INFINITY) return undefined;
  const deadline = startDeadline(clock, Math.min(Math.max(0, until - clock.now()), longestTimerMs));
  deadline.signal.addEventListener('abort', () => life.end(), { once: true });
  return deadline;
}

/** Node's timers take no longer time; a stream lives shorter than 24 days. */
const longestTimerMs = 2 ** 31 - 1;

function end<In, Out>(call: ServerDuplexStream<In, Out>, report: EndReport, error: unknown): void {
  if (call.cancelled) return report({ code: status.CANCELLED, isFault: false });
  if (error === undefined) {
    report();
    call.end();
    return;
  }
  const failure = toGrpcFailure(error);
  report(failure, error);
  call.emit('error', failure);
}
