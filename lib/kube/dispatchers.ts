import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import type { Endpoint } from './credentials.ts';

/**
 * Watches and logs hold a connection for as long as they last; apart, they cannot starve short requests of theirs.
 * `bookkeeping`: see RequestPurpose.
 */
export type Use = 'requests' | 'bookkeeping' | 'streams';

/** Connections, kept and shared. One dispatcher for each distinct endpoint and use, however many requests there are. */
export interface Dispatchers {
  of(endpoint: Endpoint, use: Use): Dispatcher;
  /** Breaks every connection. */
  close(): Promise<void>;
}

/**
 * Milliseconds an idle connection is kept. The API server closes idle ones after 90 s, and load balancers often after
 * 60. We must be the first to let go, or a write may meet a connection that is just being closed.
 */
const keepAliveMs = 30_000;
const connectTimeoutMs = 10_000;

type Trio = Readonly<Record<Use, Dispatcher>>;

/** Connections for short requests: as many as may be under way (`request-shares.ts`). Streams are not bounded. */
type Connections = Readonly<Record<Exclude<Use, 'streams'>, number>>;

export function createDispatchers(connections: Connections): Dispatchers {
  /** The source hands out the same object until something changes, which spares comparing keys and certificates. */
  const byEndpoint = new WeakMap<Endpoint, Trio>();
  let current: { readonly key: string; readonly trio: Trio } | undefined;

  function trioOf(endpoint: Endpoint): Trio {
    const known = byEndpoint.get(endpoint);
    if (known !== undefined) return known;
    const key = JSON.stringify([endpoint.server, endpoint.proxyUrl, endpoint.tls]);
    if (current?.key !== key) {
      retire(current?.trio);
      current = { key, trio: openTrio(endpoint, connections) };
    }
    byEndpoint.set(endpoint, current.trio);
    return current.trio;
  }

  return {
    of: (endpoint, use) => trioOf(endpoint)[use],
    async close() {
      const dispatchers = Object.values(current?.trio ?? {});
      current = undefined;
      await Promise.all(dispatchers.map((dispatcher) => dispatcher.destroy()));
    },
  };
}

/** After a certificate rotation: what is under way ends by itself, then the old connections close. */
function retire(trio: Trio | undefined): void {
  for (const dispatcher of Object.values(trio ?? {})) dispatcher.close().catch(() => undefined);
}

const openTrio = (endpoint: Endpoint, { requests, bookkeeping }: Connections): Trio => ({
  requests: open(endpoint, requests),
  bookkeeping: open(endpoint, bookkeeping),
  streams: open(endpoint, undefined),
});

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
