import type { Http2Session, ServerHttp2Stream } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../clock.ts';
import { ConnectionShares } from '../../connection-shares.ts';
import { PortConnection } from './port-connection.ts';

/** Peers whose connections carry the calls of many clients. */
export interface TrustedPeers {
  has(address: string): boolean;
}

/** Bounds of the connections of strangers. */
export interface StrangerLimits {
  /** Connections at a time. Default 500; `strangersIn` for those of a process. */
  readonly places?: number | undefined;
  /** Connections that may wait for a place. Default 4,000. */
  readonly waiting?: number | undefined;
  /** How long one waits for a place. Default 15 s. */
  readonly waitMs?: number | undefined;
  /** A connection without a call is closed after this time. Default one minute. */
  readonly idleMs?: number | undefined;
  /** One that has been without a call for so long is closed where another one needs its place. Default 5 s. */
  readonly spareMs?: number | undefined;
}

interface PortOptions {
  readonly clock: Clock;
  readonly strangers?: StrangerLimits | undefined;
  readonly proxies?: TrustedPeers | undefined;
  /** Calls at a time over one connection, before any has proved who makes it. */
  readonly calls: number;
  /** Calls at a time over one connection of a proxy, or of a peer whose calls have proved who makes them. */
  readonly proxyCalls: number;
  /** Gives the library a connection. */
  readonly inject: (socket: Socket) => void;
}

/** Bytes of a connection with TLS and HTTP/2 and without a call: 57 KiB were measured. */
const connectionBytes = 60 * 1024;
/** Bytes of a socket that is not read yet, with its place in the line. */
const waitingBytes = 6 * 1024;

/** Limits for a process that gives strangers so many bytes. */
export const strangersIn = (bytes: { readonly connections: number; readonly waiting: number }): StrangerLimits => ({
  places: Math.floor(bytes.connections / connectionBytes),
  waiting: Math.floor(bytes.waiting / waitingBytes),
});

const waitMs = 15_000;
const idleMs = 60_000;
/** How often connections are looked through. */
const lookMs = 1_000;

/**
 * Connections of a port. Each counts in the account of its network until a call proves who makes it, or its client has a certificate of
 * ours. Those for which there is no place wait as bare sockets: a fleet that comes back is served in its turn.
 */
export class PortConnections {
  readonly #options: PortOptions;
  readonly #shares: ConnectionShares;
  readonly #idleMs: number;
  readonly #stopping = new AbortController();
  /** Connections of strangers without a call, and all others that a session may still be made of. */
  readonly #open = new Map<string, PortConnection>();
  /** Calls that have their status, and whose peers have not ended their side; when they were noted. */
  readonly #answered = new Map<ServerHttp2Stream, number>();
  #isLooking = false;

  constructor(options: PortOptions) {
    const { clock, strangers = {} } = options;
    this.#options = options;
    this.#idleMs = strangers.idleMs ?? idleMs;
    this.#shares = new ConnectionShares({
      clock,
      places: strangers.places ?? 500,
      waiting: strangers.waiting ?? 4_000,
      waitMs: strangers.waitMs ?? waitMs,
      ...(strangers.spareMs === undefined ? {} : { spareMs: strangers.spareMs }),
    });
  }

  /** A socket of the port, which is not read yet. */
  add(socket: Socket): void {
    const { clock, proxies, calls, proxyCalls } = this.#options;
    const { remoteAddress } = socket;
    if (remoteAddress === undefined) return void socket.destroy();
    if (proxies?.has(plainOf(remoteAddress)) === true) return this.#inject(socket);
    const connection = new PortConnection(socket, {
      clock,
      shares: this.#shares,
      calls: { first: calls, most: proxyCalls },
    });
    const key = keyOf(socket);
    this.#open.set(key, connection);
    socket.once('close', () => {
      connection.close();
      if (this.#open.get(key) === connection) this.#open.delete(key);
    });
    if (connection.takePlace()) return this.#inject(socket);
    // The peer may reset it while it waits.
    socket.on('error', nothing);
    void this.#admit(connection, socket);
  }

  /** The library has made a session of a socket. */
  begin(session: Http2Session): void {
    const socket = session.socket as Partial<TLSSocket>;
    const { remoteAddress = '' } = socket;
    if (this.#options.proxies?.has(plainOf(remoteAddress)) === true)
      return session.settings({ maxConcurrentStreams: this.#options.proxyCalls });
    this.#open.get(keyOf(socket))?.begin(session, socket.authorized === true);
  }

  /** A call has begun. */
  count(stream: ServerHttp2Stream): void {
    const { session } = stream;
    if (session !== undefined) PortConnection.of(session)?.count(stream);
  }

  /** A call has its status, which may be on its way yet; its peer may leave its own side open for ever. */
  noteAnswered(stream: ServerHttp2Stream): void {
    this.#answered.set(stream, this.#options.clock.steadyMs());
    if (!this.#isLooking) void this.#look();
  }

  /** Nothing waits for a place any more. */
  stop(): void {
    this.#stopping.abort('stopping');
  }

  async #admit(connection: PortConnection, socket: Socket): Promise<void> {
    if (await connection.awaitPlace(this.#stopping.signal)) this.#inject(socket);
    else socket.destroy();
  }

  #inject(socket: Socket): void {
    if (!this.#isLooking) void this.#look();
    // It was opened paused.
    socket.read(0);
    this.#options.inject(socket);
  }

  /** Closes connections without a call, and calls that are over. */
  async #look(): Promise<void> {
    const { signal } = this.#stopping;
    this.#isLooking = true;
    while (this.#open.size + this.#answered.size > 0 && !signal.aborted) {
      await this.#options.clock.sleep(lookMs, signal);
      const now = this.#options.clock.steadyMs();
      for (const connection of this.#open.values()) connection.closeIdle(now - this.#idleMs);
      this.#closeAnswered(now - lookMs);
    }
    this.#isLooking = false;
  }

  #closeAnswered(latest: number): void {
    for (const [stream, since] of this.#answered) {
      if (since > latest) break;
      this.#answered.delete(stream);
      if (!stream.closed) stream.close();
    }
  }
}

const nothing = (): void => undefined;

const keyOf = ({ remoteAddress, remotePort }: Pick<Partial<Socket>, 'remoteAddress' | 'remotePort'>): string =>
  `${plainOf(remoteAddress ?? '')} ${remotePort ?? ''}`;

/** IPv4 as it is written, where the port takes both families. */
const plainOf = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, '');
