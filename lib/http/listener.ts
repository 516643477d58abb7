import { createServer, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import { ConnectionShares, type CountedConnection } from '../connection-shares.ts';
import { listenBacklog } from '../listen-backlog.ts';
import { onAbort } from '../on-abort.ts';
import type { HttpApp } from './http-app.ts';

export interface ListenOptions {
  readonly port: number;
  /** Default: all addresses. */
  readonly host?: string;
  readonly timeouts?: ListenerTimeouts;
  readonly connections?: ConnectionBounds;
}

interface ConnectionBounds {
  /** Default 10,000; one network has four fifths of them at most. More are closed as they come. */
  readonly places?: number;
  /** One that has been idle for so long is closed where another one needs its place. Default 5 s. */
  readonly spareMs?: number;
}

/** In milliseconds. */
interface ListenerTimeouts {
  /** Until all headers are there. Default 10 s. */
  readonly headers?: number;
  /** Until the whole request is there. Default 30 s. */
  readonly request?: number;
  /**
   * Between two requests; longer than proxies keep a connection, so that they never use one that is being closed: 90 s
   * those in Go, ten minutes some load balancers. Default 620 s.
   */
  readonly keepAlive?: number;
}

/** A port on which an application is served. */
export interface Listener {
  readonly port: number;
  /**
   * Takes no new connections, ends event streams, and resolves when every request under way is answered. When `abandon`
   * aborts, handlers' signals abort with the reason of `serverStops`. When `breakOff` aborts, connections are broken off.
   * Default: `abandon`.
   */
  close(abandon: AbortSignal, breakOff?: AbortSignal): Promise<void>;
}

/** An idle one takes some 6 KiB. */
const connectionsMax = 10_000;

/** Quiet time of a connection before the kernel asks whether its client is there. */
const probeMs = 30_000;

/** How often Node looks for connections whose time is over. */
const checkMs = 1_000;

/** Resolves when the port is open; rejects when it is taken. */
export function listen(app: HttpApp, options: ListenOptions): Promise<Listener> {
  const { headers = 10_000, request = 30_000, keepAlive = 620_000 } = options.timeouts ?? {};
  const server = createServer({
    headersTimeout: headers,
    requestTimeout: request,
    keepAliveTimeout: keepAlive,
    connectionsCheckingInterval: checkMs,
    // A client whose host was lost sends no FIN: its request would wait for ever.
    keepAlive: true,
    keepAliveInitialDelay: probeMs,
    // Answered by the application, in the documented form.
    requireHostHeader: false,
  });
  const endIdle = watchIdle(server, app.clock, options.connections);
  server.on('request', app.handle).on('checkContinue', app.handle).on('checkExpectation', app.handle);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => refuse(error, socket as Socket, app.headers));
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const { port, host } = options;
    server.listen({ port, ...(host === undefined ? {} : { host }), backlog: listenBacklog }, () => {
      server.off('error', reject);
      resolve({
        port: (server.address() as AddressInfo).port,
        close: (abandon, breakOff = abandon) => close(app, { server, endIdle }, { abandon, breakOff }),
      });
    });
  });
}

/** Ends connections that have no request under way: those there are, and from then on each that has had its answer. */
type EndIdle = () => void;

/**
 * Node's own list of idle connections lacks those that have never had a request, and is looked at only once. Requests
 * are counted, because a client may send the next one before it has its answer. Entries are changed in place: a Set
 * whose members come and go with every request is made anew every few of them.
 */
function watchIdle(server: Server, clock: Clock, bounds: ConnectionBounds = {}): EndIdle {
  const open = new Map<Socket, Connection>();
  const shares = new ConnectionShares({ clock, places: connectionsMax, ...bounds });
  let isEnding = false;
  const count = (socket: Socket, change: number): void => {
    if (open.get(socket)?.count(change) === 0 && isEnding) socket.destroySoon();
  };
  server.on('connection', (socket) => {
    const connection = new Connection(socket, clock);
    if (!connection.enter(shares)) return void socket.destroy();
    open.set(socket, connection);
    count(socket, 0);
    socket.once('close', () => {
      open.delete(socket);
      connection.leave();
    });
  });
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
    server.on(event, ({ socket }, response) => {
      count(socket, 1);
      response.once('close', () => count(socket, -1));
    });
  }
  return () => {
    isEnding = true;
    for (const connection of open.values()) if (connection.idleSince() !== undefined) connection.close();
  };
}

class Connection implements CountedConnection {
  readonly #socket: Socket;
  readonly #clock: Clock;
  #requests = 0;
  #idleAt: number;
  #leave: (() => void) | undefined;

  constructor(socket: Socket, clock: Clock) {
    this.#socket = socket;
    this.#clock = clock;
    this.#idleAt = clock.steadyMs();
  }

  /** False: there is no place. */
  enter(shares: ConnectionShares): boolean {
    this.#leave = shares.tryEnter(this.#socket.remoteAddress ?? '', this);
    return this.#leave !== undefined;
  }

  leave(): void {
    this.#leave?.();
    this.#leave = undefined;
  }

  /** Answers how many requests are under way. */
  count(change: number): number {
    this.#requests += change;
    this.#idleAt = this.#clock.steadyMs();
    return this.#requests;
  }

  idleSince(): number | undefined {
    return this.#requests === 0 ? this.#idleAt : undefined;
  }

  close(): void {
    this.leave();
    this.#socket.destroy();
  }
}

interface Opened {
  readonly server: Server;
  readonly endIdle: EndIdle;
}

interface Ends {
  readonly abandon: AbortSignal;
  readonly breakOff: AbortSignal;
}

async function close(app: HttpApp, { server, endIdle }: Opened, { abandon, breakOff }: Ends): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  app.stop();
  endIdle();
  const offs = [onAbort(abandon, () => app.abandon()), onAbort(breakOff, () => server.closeAllConnections())];
  await closed;
  for (const off of offs) off();
}

/** An error of a client that never became a request. */
interface BrokenRequest {
  readonly status: number;
  readonly error: string;
  readonly message: string;
}

const byParserError: Readonly<Record<string, BrokenRequest>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    error: 'headers_too_large',
    message: 'the address and the headers are larger than 16 KiB',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: 408,
    error: 'request_timeout',
    message: 'the request did not arrive in time; send it again',
  },
};
const malformed: BrokenRequest = {
  status: 400,
  error: 'invalid_request',
  message: 'the request is cut off, or is not HTTP/1.1',
};

type AnsweringSocket = Socket & { _httpMessage?: { headersSent: boolean } };

/** Answers what never became a request: there is no context, only a socket. */
function refuse(error: NodeJS.ErrnoException, socket: AnsweringSocket, headers: HttpApp['headers'] = {}): void {
  // An answer, or half of one, is on its way: a second one would be read as part of it.
  if (!socket.writable || socket._httpMessage?.headersSent === true) return socket.destroySoon();
  const { status, error: code, message } = byParserError[error.code ?? ''] ?? malformed;
  const body = JSON.stringify({ error: code, code, message });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Connection: close',
    'Content-Type: application/json',
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
