import { Agent, fetch as fetchOver, type RequestInit as OverInit } from 'undici';
import { AppError } from '../errors.ts';
import { createAddressPolicy } from '../tools/web/address-policy.ts';
import { assertHostPermitted, createVettedLookup, type Resolve } from '../tools/web/vetted-agent.ts';
import { mcpLimits } from './limits.ts';

/** HTTP to one server. */
export interface BoundedFetch {
  /** For the transport of the library. Rejects with an AppError that holds nothing of what was sent. */
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  /** Breaks every connection. */
  close(): Promise<void>;
}

interface BoundedFetchOptions {
  readonly resolve: Resolve;
  /** Internal networks in which the server may be, in CIDR form. */
  readonly allowedNetworks: readonly string[];
  /** Longest time of one exchange, its stream included. */
  readonly timeoutMs: number;
}

/**
 * Vets the address of every connection that is made, follows no redirect, and ends an answer that is too long or too large
 * when it is unpacked. It opens no stream for messages without a question: one would stay open for ever.
 */
export function createBoundedFetch(options: BoundedFetchOptions): BoundedFetch {
  const isPermitted = createAddressPolicy(options.allowedNetworks);
  const dispatcher = new Agent({
    connections: mcpLimits.calls,
    connect: {
      lookup: createVettedLookup({ isPermitted, resolve: options.resolve }),
      timeout: mcpLimits.connectMs,
    },
    keepAliveTimeout: 10_000,
    maxHeaderSize: mcpLimits.headerBytes,
  });
  return {
    async fetch(url, init = {}) {
      if (init.method === 'GET') return new Response(null, { status: 405 });
      const target = new URL(url);
      // A host that is an address is never looked up.
      assertHostPermitted(target.hostname, isPermitted);
      const signals = [AbortSignal.timeout(options.timeoutMs), ...(init.signal ? [init.signal] : [])];
      const own = { ...init, redirect: 'manual', signal: AbortSignal.any(signals), dispatcher };
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the same interface of the platform, typed twice
      const response = (await fetchOver(target, own as unknown as OverInit)) as unknown as Response;
      return bounded(response);
    },
    close: () => dispatcher.destroy(),
  };
}

function bounded(response: Response): Response {
  const { status, headers, body } = response;
  if (status >= 300 && status < 400) {
    void body?.cancel();
    throw new AppError('unavailable', 'the server answers with a redirect, which is not followed');
  }
  if (body === null) return response;
  return new Response(body.pipeThrough(counter()), { status, headers });
}

function counter(): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes <= mcpLimits.responseBytes) return controller.enqueue(chunk);
      const message = `the server answers with more than ${mcpLimits.responseBytes} bytes`;
      return controller.error(new AppError('limit_exceeded', message, { reason: 'TooLarge' }));
    },
  });
}
