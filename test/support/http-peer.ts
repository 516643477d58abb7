import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A request as the peer received it. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export type Answerer = (request: ReceivedRequest, response: ServerResponse) => void | Promise<void>;

/**
 * The other end of a connection, for tests of what a client does when that end misbehaves: it answers what the test
 * says, resets, or keeps silent. It knows nothing of Kubernetes.
 */
export interface HttpPeer {
  readonly url: string;
  /** PEM of the certificate to trust; undefined without TLS. */
  readonly ca: string | undefined;
  readonly requests: readonly ReceivedRequest[];
  /** TCP connections accepted so far. */
  readonly connections: number;
  /** Breaks every open connection without a goodbye. */
  resetConnections(): void;
  close(): Promise<void>;
}

export async function startHttpPeer(answer: Answerer, options: { readonly tls?: boolean } = {}): Promise<HttpPeer> {
  const identity = options.tls ? makeCertificate() : undefined;
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const listener = (message: IncomingMessage, response: ServerResponse): void => {
    void receive(message).then((request) => {
      requests.push(request);
      return answer(request, response);
    });
  };
  const server = identity === undefined ? createServer(listener) : createSecureServer(identity, listener);
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listen(server);
  return {
    url: `${identity === undefined ? 'http' : 'https'}://127.0.0.1:${port}`,
    ca: identity?.cert,
    requests,
    get connections() {
      return connections;
    },
    resetConnections: () => {
      for (const socket of sockets) socket.resetAndDestroy();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

async function receive(message: IncomingMessage): Promise<ReceivedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const url = new URL(message.url ?? '/', 'http://peer');
  return {
    method: message.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    headers: message.headers,
    body: Buffer.concat(chunks).toString('utf8'),
  };
}

function makeCertificate(): { readonly key: string; readonly cert: string } {
  const folder = mkdtempSync(join(tmpdir(), 'http-peer-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  const subject = ['-subj', '/CN=peer', '-addext', 'subjectAltName=IP:127.0.0.1'];
  try {
    execFileSync('openssl', [...request, ...subject, '-keyout', key, '-out', cert], { stdio: 'pipe' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Ends a response with JSON. */
export function answerJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
