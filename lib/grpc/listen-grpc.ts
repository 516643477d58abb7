import { once } from 'node:events';
import { constants, type Http2Server, type Http2Session, type Settings } from 'node:http2';
import { type AddressInfo, createServer, type Server as SocketServer } from 'node:net';
import {
  logVerbosity,
  Server,
  type ServerCredentials,
  type ServerOptions,
  type ServiceDefinition,
  setLogVerbosity,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { Clock } from '../clock.ts';
import { AppError, messageOf } from '../errors.ts';
import { listenBacklog } from '../listen-backlog.ts';
import { boundCalls } from './connections/bounded-calls.ts';
import { PortConnections, type StrangerLimits, type TrustedPeers } from './connections/port-connections.ts';
import type { Health } from './health.ts';
import { grpcLimits } from './limits.ts';
import { meterMessages } from './receive/meter-messages.ts';
import type { ReceivedMessages } from './receive/received-messages.ts';

// Lines that the package writes to standard error by itself; its errors reach us anyway.
setLogVerbosity(logVerbosity.NONE);

/** A service and what fulfils it. */
export interface GrpcService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

interface GrpcListenOptions {
  readonly clock: Clock;
  readonly port: number;
  /** Default: all addresses. */
  readonly host?: string;
  readonly credentials: ServerCredentials;
  readonly services: readonly GrpcService[];
  readonly health: Health;
  /** Size limit of one message, packed and unpacked; a method may have a lower bound (`sized`). */
  readonly maxMessageBytes: number;
  /** Called first when the server stops, so that long streams can say goodbye. */
  readonly onDrain?: () => void;
  readonly connections?: ConnectionLimits;
  /**
   * Bounds the bytes of messages that have come and are not handled, and the time of requests. Absent: those of each stream are
   * bounded alone.
   */
  readonly received?: ReceivedMessages | undefined;
  /** Proxies whose connections carry the calls of many clients. Default: none. */
  readonly proxies?: TrustedPeers | undefined;
  /** The client of a call, by the address of its socket and the `x-forwarded-for`. Default: the network of the socket. */
  readonly clientOf?: ((address: string, forwarded: string | undefined) => string) | undefined;
}

interface ConnectionLimits {
  /** A client must come back, and prove anew who it is, after this time. Default ten minutes; `none` for long streams. */
  readonly ageMs?: number | 'none';
  /**
   * A connection that is silent for this long is asked whether it is still there. Default one minute. grpc-js 1.14.7
   * drops a connection whose turn comes while the server stops: streams have to say goodbye before.
   */
  readonly keepAliveMs?: number;
  /** How long it may take to answer. Default 20 s. */
  readonly keepAliveTimeoutMs?: number;
  /** Calls at a time over one connection. Default 256. */
  readonly calls?: number;
  /** The same over one of a proxy, or of a peer whose calls have proved who makes them. Default: `calls`. */
  readonly proxyCalls?: number | undefined;
  /** Bounds those whose clients are not known. */
  readonly strangers?: StrangerLimits | undefined;
}

/** A port on which services are served. */
export interface GrpcListener {
  readonly port: number;
  /**
   * Says that nothing serves any more, takes no new calls, and resolves when every call under way is answered. When
   * `abandon` aborts, they are broken off.
   */
  close(abandon: AbortSignal): Promise<void>;
}

const connectionAgeMs = 10 * 60_000;
/** Time that calls under way get beyond the age of their connection. */
const connectionGraceMs = 30_000;
const keepAliveMs = 60_000;
const keepAliveTimeoutMs = 20_000;
const callsPerConnection = 256;

/** Resolves when the port is open; rejects with AppError `unavailable` when it is taken. */
export async function listenGrpc(options: GrpcListenOptions): Promise<GrpcListener> {
  const server = new Server(channelOptions(options));
  boundHeaders(server);
  for (const { definition, implementation } of options.services) server.addService(definition, implementation);
  const injector = server.createConnectionInjector(options.credentials);
  const { clock, proxies, connections: { calls = callsPerConnection, proxyCalls = calls, strangers } = {} } = options;
  const inject = injector.injectConnection.bind(injector);
  const connections = new PortConnections({ clock, proxies, calls, proxyCalls, strangers, inject });
  for (const [opened] of portsOf(server)) boundCalls(opened, connections);
  const sockets = await openPort(connections, options);
  const { port } = sockets.address() as AddressInfo;
  return { port, close: (abandon) => close({ server, sockets, connections }, options, abandon) };
}

/** The library (1.14.7) has no option for it. */
function boundHeaders(server: Server): void {
  const { commonServerOptions } = server as unknown as { readonly commonServerOptions: { settings?: Settings } };
  commonServerOptions.settings = { ...commonServerOptions.settings, maxHeaderListSize: grpcLimits.headerBytes };
}

function channelOptions(options: GrpcListenOptions): ServerOptions {
  const { maxMessageBytes, connections = {}, received, services } = options;
  const { ageMs = connectionAgeMs, calls = callsPerConnection } = connections;
  return {
    // No client reads its counts, and it costs a kilobyte a connection.
    'grpc.enable_channelz': 0,
    'grpc.max_receive_message_length': maxMessageBytes,
    'grpc.max_concurrent_streams': calls,
    ...(received === undefined
      ? {}
      : { interceptors: [meterMessages({ ...options, received, methods: methodsOf(services) })] }),
    ...(ageMs === 'none'
      ? {}
      : { 'grpc.max_connection_age_ms': ageMs, 'grpc.max_connection_age_grace_ms': connectionGraceMs }),
    'grpc.keepalive_time_ms': connections.keepAliveMs ?? keepAliveMs,
    'grpc.keepalive_timeout_ms': connections.keepAliveTimeoutMs ?? keepAliveTimeoutMs,
  };
}

const methodsOf = (services: readonly GrpcService[]) => services.flatMap(({ definition }) => Object.values(definition));

/**
 * The library opens ports with Node's own queue of 511 connections. The kernel drops those of a fleet that comes back beyond it, and
 * each tries again after 1, 3, 7, 15 and 31 s.
 */
async function openPort(connections: PortConnections, { host, port }: GrpcListenOptions): Promise<SocketServer> {
  const open = async (address: string): Promise<SocketServer> => {
    const sockets = createServer({ noDelay: true, pauseOnConnect: true }, (socket) => connections.add(socket));
    sockets.listen({ port, host: address, backlog: listenBacklog });
    await once(sockets, 'listening');
    return sockets;
  };
  try {
    // Every address of both families, or of the one that the machine has.
    return await open(host ?? '::').catch((error: unknown) => {
      if (host === undefined && /EAFNOSUPPORT|EADDRNOTAVAIL/.test(messageOf(error))) return open('0.0.0.0');
      throw error;
    });
  } catch (error) {
    throw new AppError('unavailable', `gRPC cannot listen: ${messageOf(error)}`, { cause: error });
  }
}

interface Opened {
  readonly server: Server;
  readonly sockets: SocketServer;
  readonly connections: PortConnections;
}

function close(
  { server, sockets, connections: admitted }: Opened,
  options: GrpcListenOptions,
  abandon: AbortSignal,
): Promise<void> {
  const connections = connectionsOf(server);
  // The library counts no connection that it did not accept itself: those of the port are over when their sockets are.
  const closed = once(sockets, 'close');
  sockets.close();
  admitted.stop();
  return new Promise((resolve) => {
    // The library (1.14.7) may never call back once a connection has ended by its keep-alive, so nothing waits for that.
    const giveUp = (): void => {
      server.forceShutdown();
      for (const connection of connections.flatMap((some) => [...some]))
        connection.destroy(undefined, constants.NGHTTP2_CANCEL);
      resolve();
    };
    options.onDrain?.();
    options.health.stop();
    server.tryShutdown(() => {
      void closed.then(() => {
        abandon.removeEventListener('abort', giveUp);
        resolve();
      });
    });
    if (abandon.aborted) giveUp();
    else abandon.addEventListener('abort', giveUp, { once: true });
  });
}

/**
 * Open connections, by port; the sets change as connections come and end. Without channelz, `forceShutdown` of grpc-js 1.14.7
 * knows of no connection, and breaks none off.
 */
function connectionsOf(server: Server): ReadonlySet<Http2Session>[] {
  return portsOf(server).map(([, { sessions }]) => sessions);
}

/** The servers of HTTP/2 below the library (1.14.7), which gives them no other way. */
function portsOf(server: Server): (readonly [Http2Server, OpenPort])[] {
  const { http2Servers } = server as unknown as { readonly http2Servers?: Iterable<[Http2Server, OpenPort]> };
  return [...(http2Servers ?? [])];
}

interface OpenPort {
  readonly sessions: ReadonlySet<Http2Session>;
}
