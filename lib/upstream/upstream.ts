import type { Clock } from '../clock.ts';
import type { Resolve } from '../tools/web/vetted-agent.ts';

/** One attempt of a call to an upstream. */
export interface UpstreamRequest {
  /** Whose pools are used. */
  readonly tenant: string;
  readonly method: string;
  /** Base URL without a slash at its end. */
  readonly server: string;
  /** Begins with a slash; joined to the base URL as it is (spec 3 §2.4), a query included. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent with every method, GET included (requirements AMB-021). */
  readonly body: string;
  /** Internal networks in which the upstream may be, in CIDR form. */
  readonly allowedNetworks: readonly string[];
  /** Bytes of the response when it is unpacked. */
  readonly responseBytes: number;
  /** Called before so many bytes of the response are held: makes room for them. */
  readonly grow?: (bytes: number) => Promise<void>;
  /** Ends the attempt; its reason is a `TimeoutError` where the time is up. */
  readonly signal: AbortSignal;
}

/** A response; redirects are answers as others are. */
export interface UpstreamAnswer {
  readonly status: number;
  readonly body: Buffer;
}

/** HTTP to the servers of registered APIs. */
export interface Upstream {
  /**
   * @throws AppError: `timeout`; `cancelled`; `forbidden` for an address that is not permitted; `limit_exceeded` for a
   * response that is too large; `invalid` for an address that is none; `unavailable` where no whole response came.
   * `statusOf` gives the status where one came.
   */
  send(request: UpstreamRequest): Promise<UpstreamAnswer>;
  /** Breaks every connection. */
  close(): Promise<void>;
}

export interface UpstreamDeps {
  readonly clock: Clock;
  readonly resolve: Resolve;
}
