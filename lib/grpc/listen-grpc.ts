import {
  logVerbosity,
  Server,
  type ServerCredentials,
  type ServiceDefinition,
  setLogVerbosity,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { AppError, messageOf } from '../errors.ts';
import type { Health } from './health.ts';

// Lines that the package writes to standard error by itself; its errors reach us anyway.
setLogVerbosity(logVerbosity.NONE);

/** A service and what fulfils it. */
export interface GrpcService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

interface GrpcListenOptions {
  readonly port: number;
  /** Default: all addresses. */
  readonly host?: string;
  readonly credentials: ServerCredentials;
  readonly services: readonly GrpcService[];
  readonly health: Health;
  readonly maxMessageBytes: number;
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

/** A client must come back, and prove anew who it is, after this time; calls under way get some more. */
const connectionAgeMs = 10 * 60_000;
const connectionGraceMs = 30_000;
/** A connection that is silent for this long is asked whether it is still there. */
const keepAliveMs = 60_000;
/** Calls at a time over one connection. */
const callsPerConnection = 256;

/** Resolves when the port is open; rejects with AppError `unavailable` when it is taken. */
export async function listenGrpc(options: GrpcListenOptions): Promise<GrpcListener> {
  const { credentials, health } = options;
  // Channelz stays on: without it forceShutdown (grpc-js 1.14.7) knows of no connection, and breaks none off.
  const server = new Server({
    'grpc.max_receive_message_length': options.maxMessageBytes,
    'grpc.max_concurrent_streams': callsPerConnection,
    'grpc.max_connection_age_ms': connectionAgeMs,
    'grpc.max_connection_age_grace_ms': connectionGraceMs,
    'grpc.keepalive_time_ms': keepAliveMs,
  });
  for (const { definition, implementation } of options.services) server.addService(definition, implementation);
  const bound = await bindFirst(server, addressesOf(options), credentials);
  return { port: bound, close: (abandon) => close(server, health, abandon) };
}

/** Every address of both families, or of the one that the machine has. */
function addressesOf({ host, port }: GrpcListenOptions): [string, ...string[]] {
  if (host === undefined) return [`[::]:${port}`, `0.0.0.0:${port}`];
  return [host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`];
}

async function bindFirst(
  server: Server,
  [address, ...others]: readonly [string, ...string[]],
  credentials: ServerCredentials,
): Promise<number> {
  try {
    return await bind(server, address, credentials);
  } catch (error) {
    const [next, ...rest] = others;
    if (next === undefined || !/EAFNOSUPPORT|EADDRNOTAVAIL/.test(messageOf(error))) throw error;
    return bindFirst(server, [next, ...rest], credentials);
  }
}

function bind(server: Server, address: string, credentials: ServerCredentials): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, port) => {
      if (error === null) resolve(port);
      else reject(new AppError('unavailable', `gRPC cannot listen: ${messageOf(error)}`, { cause: error }));
    });
  });
}

function close(server: Server, health: Health, abandon: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const giveUp = (): void => server.forceShutdown();
    health.stop();
    server.tryShutdown(() => {
      abandon.removeEventListener('abort', giveUp);
      resolve();
    });
    if (abandon.aborted) giveUp();
    else abandon.addEventListener('abort', giveUp, { once: true });
  });
}
