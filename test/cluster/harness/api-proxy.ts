import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders, type ServerResponse } from 'node:http';
import { Agent, createServer, request as httpsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Endpoint, HeaderFields } from '../../../lib/kube/credentials.ts';
import { findCredentials } from '../../../lib/kube/kubeconfig-credentials.ts';
import { type Certificate, makeCertificate } from './certificate.ts';
import { type Exchange, isWrite, verbOf } from './exchange.ts';
import { pipeWatch, type WatchRule } from './watch-lines.ts';

/** An answer made up by the proxy. */
interface Answer {
  readonly status: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `forward` asks the API server; `reset` breaks the client's connection without an answer. */
export type Verdict = 'forward' | 'reset' | Answer;

/** The proxy's rules for the traffic. Without a rule everything passes unchanged. */
interface Rules {
  /** Called before a request is sent to the API server. A promise holds the request back until it settles. */
  readonly before?: (exchange: Exchange) => Verdict | Promise<Verdict>;
  /** After the API server has answered a write and before the client hears of it. */
  readonly after?: (exchange: Exchange, status: number) => 'send' | 'reset' | Promise<'send' | 'reset'>;
  /** Called for each event of a watch. */
  readonly event?: WatchRule;
}

/** A TLS reverse proxy before the real API server that records what passes and does harm on demand. */
export interface ApiProxy {
  /** Kubeconfig file of a client that should go through the proxy. */
  readonly kubeconfig: string;
  readonly url: string;
  /** Every request since the start or the last `forget`, oldest first. */
  readonly exchanges: readonly Exchange[];
  forget(): void;
  setRules(rules: Rules): void;
  /** Refuses new connections and breaks open ones, as if the API server were down. */
  goDown(): Promise<void>;
  comeUp(): Promise<void>;
  /** Breaks every connection once; clients can come back at once. */
  breakConnections(): void;
  close(): Promise<void>;
}

/** A user that the proxy impersonates, with the groups that a real sign-in would give. */
export interface Identity {
  readonly user: string;
  readonly groups: readonly string[];
}

interface ApiProxyOptions {
  /** Kubeconfig of the real API server. */
  readonly upstream: string;
  /** Where the proxy writes the kubeconfig of its clients. */
  readonly kubeconfig: string;
  /** The user as which the API server sees the clients; by default the user of `upstream`. */
  readonly as?: Identity;
  /** Requests kept in `exchanges`; older ones are dropped. Default 200,000. */
  readonly keep?: number;
}

/** Requests to the real API server are made with the credentials of `upstream`, whatever the client's own. */
export async function startApiProxy(options: ApiProxyOptions): Promise<ApiProxy> {
  const source = await findCredentials({ env: {}, now: () => Date.now(), kubeconfig: options.upstream });
  const endpoint = await source.current();
  const certificate = await makeCertificate();
  const upstream = createUpstream(endpoint, options.as);
  const state: ProxyState = { rules: {}, exchanges: [], nextId: 1, keep: options.keep ?? 200_000 };
  const sockets = new Set<Socket>();
  const server = createServer({ ...certificate, keepAlive: true }, (request, response) => {
    serve(state, upstream, request, response).catch(() => request.socket.destroy());
  });
  server.keepAliveTimeout = 120_000;
  server.requestTimeout = 0;
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  const breakConnections = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const listen = async (port: number): Promise<number> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const goDown = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    breakConnections();
    await closed;
  };
  const port = await listen(0);
  const url = `https://127.0.0.1:${port}`;
  await writeKubeconfig(options.kubeconfig, url, certificate);
  return {
    kubeconfig: options.kubeconfig,
    url,
    get exchanges() {
      return state.exchanges;
    },
    forget() {
      state.exchanges.length = 0;
    },
    setRules(rules) {
      state.rules = rules;
    },
    goDown,
    async comeUp() {
      if (!server.listening) await listen(port);
    },
    breakConnections,
    async close() {
      await goDown();
      upstream.agent.destroy();
    },
  };
}

interface ProxyState {
  rules: Rules;
  readonly exchanges: Exchange[];
  nextId: number;
  readonly keep: number;
}

interface Upstream {
  readonly endpoint: Endpoint;
  readonly base: URL;
  readonly agent: Agent;
}

function createUpstream(known: Endpoint, as: Identity | undefined): Upstream {
  const impersonation: HeaderFields =
    as === undefined ? {} : { 'impersonate-user': as.user, 'impersonate-group': as.groups };
  const endpoint = { ...known, headers: { ...known.headers, ...impersonation } };
  const { tls } = endpoint;
  const agent = new Agent({
    keepAlive: true,
    ca: tls.ca,
    cert: tls.cert,
    key: tls.key,
    servername: tls.serverName,
    rejectUnauthorized: tls.insecureSkipVerify !== true,
  });
  return { endpoint, base: new URL(endpoint.server), agent };
}

async function serve(
  state: ProxyState,
  upstream: Upstream,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const exchange = await read(state, request);
  const verdict = (await state.rules.before?.(exchange)) ?? 'forward';
  if (response.destroyed) return;
  if (verdict === 'reset') return void request.socket.destroy();
  if (verdict !== 'forward') return answer(exchange, verdict, response);
  const reply = await ask(upstream, request, exchange, response);
  const status = reply.statusCode ?? 502;
  if (verbOf(exchange) === 'watch' && status === 200) {
    exchange.status = status;
    response.writeHead(status, passedHeaders(reply));
    return pipeWatch(reply, response, exchange, (...given) => state.rules.event?.(...given) ?? 'send');
  }
  if (!isWrite(exchange)) {
    exchange.status = status;
    response.writeHead(status, passedHeaders(reply));
    // Followed logs begin long before their first byte.
    response.flushHeaders();
    reply.pipe(response);
    return;
  }
  const body = await bodyOf(reply);
  const then = (await state.rules.after?.(exchange, status)) ?? 'send';
  if (then === 'reset') return void request.socket.destroy();
  exchange.status = status;
  response.writeHead(status, passedHeaders(reply));
  response.end(body);
}

async function read(state: ProxyState, request: IncomingMessage): Promise<Exchange> {
  const url = new URL(request.url ?? '/', 'https://proxy');
  const exchange: Exchange = {
    id: state.nextId++,
    method: request.method ?? 'GET',
    path: url.pathname,
    query: url.searchParams,
    userAgent: request.headers['user-agent'] ?? '',
    body: await bodyOf(request),
    arrivedAt: Date.now(),
  };
  state.exchanges.push(exchange);
  if (state.exchanges.length > state.keep) state.exchanges.splice(0, state.keep / 10);
  return exchange;
}

async function bodyOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Sends the request on; when the client leaves, the API server hears of it too. */
async function ask(
  { endpoint, base, agent }: Upstream,
  request: IncomingMessage,
  exchange: Exchange,
  response: ServerResponse,
): Promise<IncomingMessage> {
  const { host: _host, authorization: _authorization, connection: _connection, ...headers } = request.headers;
  const secure = base.protocol === 'https:';
  const outgoing = (secure ? httpsRequest : httpRequest)({
    host: base.hostname,
    port: base.port || (secure ? 443 : 80),
    method: exchange.method,
    path: request.url,
    headers: { ...headers, ...endpoint.headers } as OutgoingHttpHeaders,
    ...(secure ? { agent } : {}),
  });
  response.on('close', () => outgoing.destroy());
  outgoing.end(exchange.body);
  const [reply] = (await once(outgoing, 'response')) as [IncomingMessage];
  // A broken upstream breaks the client's connection as well; neither may take the proxy down.
  outgoing.on('error', () => request.socket.destroy());
  reply.on('error', () => request.socket.destroy());
  return reply;
}

function passedHeaders(reply: IncomingMessage): Record<string, string | string[]> {
  const { connection: _connection, 'transfer-encoding': _encoding, ...headers } = reply.headers;
  return headers as Record<string, string | string[]>;
}

function answer(exchange: Exchange, { status, body, headers }: Answer, response: ServerResponse): void {
  exchange.status = status;
  const text = JSON.stringify(body ?? statusObject(status));
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(text);
}

const REASON_OF_STATUS: Readonly<Record<number, string>> = {
  410: 'Expired',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
};

/** The `Status` object of a failed request, as the API server writes it. */
function statusObject(code: number): object {
  return {
    apiVersion: 'v1',
    kind: 'Status',
    metadata: {},
    status: 'Failure',
    code,
    reason: REASON_OF_STATUS[code] ?? 'Unknown',
    message: `injected ${code}`,
  };
}

async function writeKubeconfig(file: string, url: string, { cert }: Certificate): Promise<void> {
  const authority = Buffer.from(cert).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'api-proxy',
    contexts: [{ name: 'api-proxy', context: { cluster: 'api-proxy', user: 'client' } }],
    clusters: [{ name: 'api-proxy', cluster: { server: url, 'certificate-authority-data': authority } }],
    // The proxy signs in by itself; a token keeps clients from looking for credentials elsewhere.
    users: [{ name: 'client', user: { token: 'through-the-proxy' } }],
  };
  await writeFile(file, JSON.stringify(config, null, 2), { mode: 0o600 });
}
