import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import type { Endpoint } from './credentials.ts';

/** Watches and logs hold a connection for as long as they last; apart, they cannot starve short requests of theirs. */
export type Use = 'requests' | 'streams';

/** Connections, kept and shared. One dispatcher for each distinct endpoint and use, however many requests there are. */
export interface Dispatchers {
  of(endpoint: Endpoint, use: Use): Dispatcher;
  /** Breaks every connection. */
  close(): Promise<void>;
}

/**
 * Milliseconds an idle connection is kept. The API server closes idle ones after 90 s and load balancers often after
 * 60: we must be the first to let go, or a write may meet a connection that is just being closed.
 */
const keepAliveMs = 30_000;
const connectTimeoutMs = 10_000;

type Pair = Readonly<Record<Use, Dispatcher>>;

/** `maxConnections` bounds short requests under way; more wait their turn. Streams are not bounded. */
export function createDispatchers(maxConnections: number): Dispatchers {
  /** The source hands out the same object until something changes, which spares comparing keys and certificates. */
  const byEndpoint = new WeakMap<Endpoint, Pair>();
  let current: { readonly key: string; readonly pair: Pair } | undefined;

  function pairOf(endpoint: Endpoint): Pair {
    const known = byEndpoint.get(endpoint);
    if (known !== undefined) return known;
    const key = JSON.stringify([endpoint.server, endpoint.proxyUrl, endpoint.tls]);
    if (current?.key !== key) {
      retire(current?.pair);
      current = { key, pair: { requests: open(endpoint, maxConnections), streams: open(endpoint, undefined) } };
    }
    byEndpoint.set(endpoint, current.pair);
    return current.pair;
  }

  return {
    of: (endpoint, use) => pairOf(endpoint)[use],
    async close() {
      const pair = current?.pair;
      current = undefined;
      await Promise.all([pair?.requests.destroy(), pair?.streams.destroy()]);
    },
  };
}

/** After a certificate rotation: what is under way ends by itself, then the old connections close. */
function retire(pair: Pair | undefined): void {
  if (pair === undefined) return;
  for (const dispatcher of [pair.requests, pair.streams]) dispatcher.close().catch(() => undefined);
}

function open(endpoint: Endpoint, connections: number | undefined): Dispatcher {
  const { ca, cert, key, serverName, insecureSkipVerify } = endpoint.tls;
  const tls = { ca, cert, key, servername: serverName, rejectUnauthorized: insecureSkipVerify !== true };
  const options = {
    connections,
    pipelining: 1,
    allowH2: false,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: keepAliveMs,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { ...tls, timeout: connectTimeoutMs },
  };
  if (endpoint.proxyUrl === undefined) return new Agent(options);
  return new ProxyAgent({ ...options, uri: endpoint.proxyUrl, requestTls: options.connect });
}
