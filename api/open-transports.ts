import type { Readable } from 'node:stream';
import type { Registry } from 'prom-client';
import { aborted } from '../lib/aborted.ts';
import type { Clock } from '../lib/clock.ts';
import type { GrpcListener } from '../lib/grpc/listen-grpc.ts';
import type { RateLimit } from '../lib/http/index.ts';
import type { NewId } from '../lib/ids.ts';
import type { Logger } from '../lib/logger.ts';
import type { ProcessRuntime } from '../lib/process/process-runtime.ts';
import type { TenantDirectory } from '../lib/tenant/tenant-directory.ts';
import type { ApiConfig } from './config.ts';
import { tlsPaths } from './grpc/config.ts';
import type { Ingest } from './ingest/index.ts';
import { runSensor } from './sensors/run-sensor.ts';
import { createStdinSensor } from './sensors/stdin/stdin-sensor.ts';

interface TransportsDeps {
  readonly config: ApiConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: NewId;
  readonly registry: Registry;
  readonly runtime: Pick<ProcessRuntime, 'stop'>;
  readonly ingest: Ingest;
  readonly tenants: TenantDirectory;
  readonly rateLimit: RateLimit;
  /** Touched only when it is to be read. */
  readonly stdin: () => Readable;
  readonly readFile: (path: string) => Promise<string>;
}

/** Ways in for stimuli beside HTTP. */
export interface Transports {
  /** Resolves when everything that came in is settled, or given up because `abandon` has aborted. */
  close(abandon: AbortSignal): Promise<void>;
}

/** Opens those that are configured. Sensors end by themselves at the stop; calls are taken until `close`. */
export async function openTransports(deps: TransportsDeps): Promise<Transports> {
  const grpc = await openGrpc(deps);
  const giveUp = new AbortController();
  const sensors = openSensors(deps, giveUp.signal);
  return {
    async close(abandon) {
      void aborted(abandon).then(() => giveUp.abort());
      await Promise.all([grpc?.close(abandon), sensors]);
    },
  };
}

/** The package is loaded only where there are certificates. */
async function openGrpc({ config, ...deps }: TransportsDeps): Promise<GrpcListener | undefined> {
  const tls = tlsPaths(config);
  if (tls === undefined) return undefined;
  const { startGrpc } = await import('./grpc/index.ts');
  const { WINDLASS_GRPC_PORT: port, WINDLASS_HTTP_HOST: host } = config;
  const listener = await startGrpc({ port, host, tls }, deps);
  deps.logger.info({ port: listener.port }, 'serving grpc');
  return listener;
}

/** `abandon` is that of `close`: the process itself waits minutes for tool calls of agents. */
async function openSensors({ config, stdin, runtime, ...deps }: TransportsDeps, abandon: AbortSignal): Promise<void> {
  if (!config.WINDLASS_STDIN_SENSOR) return;
  const tenant = config.WINDLASS_STDIN_TENANT ?? config.WINDLASS_SYSTEM_TENANT;
  const sensor = createStdinSensor({ stream: stdin(), tenant, logger: deps.logger });
  await runSensor(sensor, { stop: runtime.stop, abandon }, deps);
}
