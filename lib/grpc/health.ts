import { type ServerUnaryCall, type ServerWritableStream, type sendUnaryData, status } from '@grpc/grpc-js';

/** The messages of grpc.health.v1, as far as they count here. */
interface HealthRequest {
  readonly service: string;
}
interface HealthResponse {
  readonly status: number;
}

/** Values of its ServingStatus. */
const serving = 1;
const notServing = 2;
const serviceUnknown = 3;

type Watcher = ServerWritableStream<HealthRequest, HealthResponse>;

/** The standard health service. All services of a server have one state; the empty name means the server. */
export interface Health {
  /** For `Server.addService`. */
  readonly implementation: {
    check(call: ServerUnaryCall<HealthRequest, HealthResponse>, callback: sendUnaryData<HealthResponse>): void;
    watch(call: Watcher): void;
    list(call: unknown, callback: sendUnaryData<{ statuses: Record<string, HealthResponse> }>): void;
  };
  /** From now on nothing serves; watchers get that state and the end of their stream, so that none delays the stop. */
  stop(): void;
}

/** Streams that may watch at the same time. */
const mostWatchers = 100;

export function createHealth(services: readonly string[]): Health {
  const known = new Set(['', ...services]);
  const watchers = new Set<Watcher>();
  let current = serving;

  const statusOf = (service: string): number | undefined => (known.has(service) ? current : undefined);

  return {
    implementation: {
      check({ request }, callback) {
        const found = statusOf(request.service);
        if (found === undefined) callback({ code: status.NOT_FOUND, details: 'no such service' });
        else callback(null, { status: found });
      },
      watch(call) {
        if (watchers.size >= mostWatchers) {
          call.emit('error', { code: status.RESOURCE_EXHAUSTED, details: 'too many clients watch already' });
          return;
        }
        call.write({ status: statusOf(call.request.service) ?? serviceUnknown });
        if (current === notServing) return void call.end();
        watchers.add(call);
        call.once('cancelled', () => watchers.delete(call)).once('close', () => watchers.delete(call));
      },
      list(_call, callback) {
        const statuses = Object.fromEntries([...known].map((name) => [name, { status: current }]));
        callback(null, { statuses });
      },
    },
    stop() {
      current = notServing;
      for (const watcher of watchers) {
        watcher.write({ status: statusOf(watcher.request.service) ?? serviceUnknown });
        watcher.end();
      }
      watchers.clear();
    },
  };
}
