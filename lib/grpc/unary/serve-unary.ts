import type { handleUnaryCall, sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js';
import type { Clock } from '../../clock.ts';
import { startDeadline } from '../../deadline.ts';
import { type ReportDeps, startReport } from '../call-report.ts';
import { GrpcError, toGrpcFailure } from '../grpc-error.ts';
import { type Peer, readPeer } from '../peer.ts';
import { assertSized } from '../sized.ts';

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
  deps: ReportDeps,
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

async function run<Request, Response>(
  call: ServerUnaryCall<Request, Response>,
  peer: Peer | undefined,
  { clock, handle }: { readonly clock: Clock; readonly handle: (call: UnaryCall<Request>) => Promise<Response> },
): Promise<Response> {
  if (peer === undefined) throw new GrpcError('unauthenticated', 'a client certificate is required');
  assertSized(call.request);
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
