import type { handleUnaryCall, sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js';
import { startDeadline } from '../../deadline.ts';
import { type ReportDeps, startReport } from '../call-report.ts';
import { GrpcError, toGrpcFailure } from '../grpc-error.ts';
import { headerOf } from '../headers.ts';
import { assertSized } from '../sized.ts';

/** A call that needs no credential. */
export interface OpenCall<Request> {
  readonly request: Request;
  /** Address and port of the socket. */
  readonly address: string;
  /** The client's values of a name; several values are joined with `, `. */
  header(name: string): string | undefined;
  readonly signal: AbortSignal;
}

const longestCallMs = 20_000;

/** Like `serveUnary`, for methods whose requests prove by themselves who calls. */
export function serveOpen<Request, Response>(
  deps: ReportDeps,
  operation: string,
  handle: (call: OpenCall<Request>) => Promise<Response>,
): handleUnaryCall<Request, Response> {
  async function serve(call: ServerUnaryCall<Request, Response>, callback: sendUnaryData<Response>): Promise<void> {
    const report = startReport(deps, operation, undefined);
    const cancelled = new AbortController();
    call.once('cancelled', () => cancelled.abort());
    using deadline = startDeadline(deps.clock, longestCallMs, cancelled.signal);
    const { signal } = deadline;
    try {
      assertSized(call.request);
      const late = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(new GrpcError('timeout', 'the time of the call is over')), {
          once: true,
        });
      });
      const header = (name: string): string | undefined => headerOf(call.metadata, name);
      const handled = handle({ request: call.request, address: call.getPeer(), header, signal });
      const response = await Promise.race([handled, late]);
      report();
      callback(null, response);
    } catch (error) {
      const failure = toGrpcFailure(error);
      report(failure, error);
      callback(failure);
    }
  }
  return (call, callback) => void serve(call, callback);
}
