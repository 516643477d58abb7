import { type handleUnaryCall, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import type { Clock } from '../clock.ts';
import { startDeadline } from '../deadline.ts';
import type { NewId } from '../ids.ts';
import type { Logger } from '../logger.ts';
import { GrpcError, type GrpcFailure, toGrpcFailure } from './grpc-error.ts';
import { type Peer, readPeer } from './peer.ts';

/** Counts what was served. */
export interface GrpcMetrics {
  /** `code` is a name of the standard, such as `ALREADY_EXISTS`. */
  callDone(report: { readonly operation: string; readonly code: string; readonly seconds: number }): void;
}

interface ServeUnaryDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: NewId;
  readonly metrics?: GrpcMetrics;
}

/** A call of an authenticated client. */
export interface UnaryCall<Request> {
  readonly request: Request;
  readonly peer: Peer;
  /** Aborts when the client cancels or its deadline is over, or after half a minute. */
  readonly signal: AbortSignal;
}

/** How long a call may take where its client sets no earlier deadline. */
const longestCallMs = 30_000;

/**
 * Answers calls by `handle`, whose errors become statuses. One line a call, without its content. A call whose time is
 * over is answered at once, whatever its handler does.
 */
export function serveUnary<Request, Response>(
  deps: ServeUnaryDeps,
  operation: string,
  handle: (call: UnaryCall<Request>) => Promise<Response>,
): handleUnaryCall<Request, Response> {
  return (call, callback) => void serve(call, callback);

  async function serve(call: ServerUnaryCall<Request, Response>, callback: sendUnaryData<Response>): Promise<void> {
    const peer = readPeer(call.getAuthContext().sslPeerCertificate);
    const report = startReport(deps, operation, peer);
    try {
      const response = await run(call, peer, { clock: deps.clock, handle });
      report();
      callback(null, response);
    } catch (error) {
      const failure = toGrpcFailure(error);
      report(failure, error);
      callback(failure);
    }
  }
}

/** Gives a function that writes down how the call ended. */
function startReport(
  { clock, logger, newId, metrics }: ServeUnaryDeps,
  operation: string,
  peer: Peer | undefined,
): (failure?: GrpcFailure, error?: unknown) => void {
  const started = clock.now();
  return (failure, err) => {
    const ms = clock.now() - started;
    const code = status[failure?.code ?? status.OK];
    metrics?.callDone({ operation, code, seconds: ms / 1000 });
    const fields = { callId: newId(), operation, code, ms, client: peer?.commonName };
    if (failure?.isFault) logger.error({ ...fields, err }, 'call failed');
    else logger.info(fields, 'call');
  };
}

async function run<Request, Response>(
  call: ServerUnaryCall<Request, Response>,
  peer: Peer | undefined,
  { clock, handle }: { readonly clock: Clock; readonly handle: (call: UnaryCall<Request>) => Promise<Response> },
): Promise<Response> {
  if (peer === undefined) throw new GrpcError('unauthenticated', 'a client certificate is required');
  const cancelled = new AbortController();
  call.once('cancelled', () => cancelled.abort());
  using deadline = startDeadline(clock, longestCallMs, cancelled.signal);
  const { signal } = deadline;
  const handled = handle({ request: call.request, peer, signal });
  const over = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new GrpcError('timeout', 'the time of the call is over')), {
      once: true,
    });
  });
  return await Promise.race([handled, over]);
}
