import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The fate of requests for the keys. */
export type KeysFault = 'none' | 'refused' | 'silent' | 'slow' | 'broken' | 'huge' | 'error' | 'empty';

/** A proxy before a provider: counts requests for keys and harms their answers. Everything else passes through. */
export interface FaultProxy {
  /** The issuer that the provider behind it has to call itself. */
  readonly url: string;
  /** How often the keys were asked for. */
  readonly fetches: number;
  fault: KeysFault;
  /** Where the provider is. */
  upstream: number;
  close(): Promise<void>;
}

const slowMs = 300;

export async function startFaultProxy(): Promise<FaultProxy> {
  const proxy: Mutable<FaultProxy> = { url: '', fetches: 0, fault: 'none', upstream: 0, close: () => close(server) };
  const server = createServer((incoming, response) => {
    const pass = (): void => forward(proxy.upstream, incoming, response);
    if (incoming.url !== '/jwks') return pass();
    proxy.fetches += 1;
    harm[proxy.fault](response, pass);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  proxy.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

const harm: Readonly<Record<KeysFault, (response: ServerResponse, pass: () => void) => void>> = {
  none: (_, pass) => pass(),
  refused: (response) => void response.destroy(),
  silent: () => undefined,
  slow: (_, pass) => void setTimeout(pass, slowMs),
  broken: (response) => void response.end('{"keys":[{"kty":"RSA"'),
  huge: (response) => void response.end(JSON.stringify({ keys: [], pad: 'x'.repeat(1_048_576) })),
  error: (response) => void response.writeHead(500).end(),
  empty: (response) => void response.end('{"keys":[]}'),
};

function forward(port: number, incoming: IncomingMessage, response: ServerResponse): void {
  const { method, url: path, headers } = incoming;
  const outgoing = request({ port, host: '127.0.0.1', method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  outgoing.on('error', () => response.destroy());
  incoming.pipe(outgoing);
}
