import { Counter, Histogram, type Registry } from 'prom-client';
import { limits } from '../../crds/limits.ts';
import type { Clock } from '../../lib/clock.ts';
import type { GrpcMetrics } from '../../lib/grpc/call-report.ts';
import { strangersIn } from '../../lib/grpc/connections/port-connections.ts';
import { createHealth } from '../../lib/grpc/health.ts';
import { type GrpcListener, type GrpcService, listenGrpc } from '../../lib/grpc/listen-grpc.ts';
import { MutualTls } from '../../lib/grpc/mutual-tls.ts';
import { createReceivedMessages } from '../../lib/grpc/receive/received-messages.ts';
import { createReflection, serveReflection } from '../../lib/grpc/reflection.ts';
import { sizedAll } from '../../lib/grpc/sized.ts';
import { serveUnary } from '../../lib/grpc/unary/serve-unary.ts';
import { markingReader } from '../../lib/grpc/text.ts';
import { followTlsFiles, readTlsFiles, type TlsPaths } from '../../lib/grpc/tls-files.ts';
import type { NewId } from '../../lib/ids.ts';
import type { Logger } from '../../lib/logger.ts';
import { bytesOf } from '../../lib/memory-budget/index.ts';
import { descriptorSet } from '../../proto/generated/descriptors.ts';
import { ServerReflectionService } from '../../proto/generated/grpc/reflection/v1/reflection.ts';
import { HealthService } from '../../proto/generated/health/v1/health.ts';
import { IngestStimulusRequest, RuntimeServiceService } from '../../proto/generated/windlass/runtime/v1/runtime.ts';
import { handleIngestStimulus, type IngestStimulusDeps } from './ingest-stimulus.ts';

interface GrpcOptions {
  readonly port: number;
  readonly host?: string;
  readonly tls: TlsPaths;
}

interface GrpcDeps extends IngestStimulusDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly newId: NewId;
  readonly registry: Registry;
  readonly readFile: (path: string) => Promise<string>;
}

const services = ['windlass.runtime.v1.RuntimeService', 'grpc.health.v1.Health', 'grpc.reflection.v1.ServerReflection'];

/** Size limit of a message: the largest content that an execution holds, its key and its headers. */
const maxMessageBytes = limits.executionInputBytes + 64 * 1024;

/** Bytes of a question about the server. */
const questionBytes = 64 * 1024;

/**
 * Opens the gRPC listener: stimuli, health and reflection, all for clients with a trusted certificate alone. Rejects
 * when the certificates cannot be used or the port is taken.
 */
export async function startGrpc({ port, host, tls }: GrpcOptions, deps: GrpcDeps): Promise<GrpcListener> {
  const current = await readTlsFiles(tls, deps);
  const credentials = new MutualTls(current);
  const health = createHealth(services);
  const following = new AbortController();
  const listener = await listenGrpc({
    clock: deps.clock,
    port,
    host,
    credentials,
    health,
    maxMessageBytes,
    ...boundsOf(deps, following.signal),
    services: [
      runtimeService(deps),
      { definition: sizedAll(HealthService, questionBytes), implementation: { ...health.implementation } },
      ...reflectionServices(),
    ],
  });
  const onChange = (files: typeof current): void => credentials.use(files);
  const followed = followTlsFiles(
    () => readTlsFiles(tls, deps),
    { current, onChange },
    { ...deps, signal: following.signal },
  );
  return {
    port: listener.port,
    async close(abandon) {
      following.abort();
      await Promise.all([followed, listener.close(abandon)]);
    },
  };
}

function boundsOf({ clock }: Pick<GrpcDeps, 'clock'>, stopping: AbortSignal) {
  const bytes = {
    connections: bytesOf('handshakes of gRPC'),
    waiting: bytesOf('connections that wait for a handshake'),
  };
  return {
    connections: { strangers: strangersIn(bytes) },
    // No stream has messages without a bound of their own. The clients have certificates of ours: time alone bounds their requests.
    received: createReceivedMessages({ clock, bytes: 0, arriving: Number.MAX_SAFE_INTEGER, stopping }),
  };
}

function runtimeService(deps: GrpcDeps): GrpcService {
  const unary = { ...deps, metrics: createGrpcMetrics(deps.registry) };
  const ingestStimulus = serveUnary(unary, 'ingestStimulus', handleIngestStimulus(deps));
  const method = {
    ...RuntimeServiceService.ingestStimulus,
    requestDeserialize: (bytes: Buffer) => IngestStimulusRequest.decode(markingReader(bytes)),
  };
  return { definition: { ingestStimulus: method }, implementation: { ingestStimulus } };
}

/** Older clients know the service by the name that it had before it was finished; nothing else differs. */
function reflectionServices(): GrpcService[] {
  const reflection = createReflection(Buffer.from(descriptorSet, 'base64'), services);
  const implementation = { serverReflectionInfo: serveReflection(reflection) };
  const { serverReflectionInfo: method } = ServerReflectionService;
  const before = { ...method, path: method.path.replace('.v1.', '.v1alpha.') };
  return [
    { definition: sizedAll(ServerReflectionService, questionBytes), implementation },
    { definition: sizedAll({ serverReflectionInfo: before }, questionBytes), implementation },
  ];
}

function createGrpcMetrics(registry: Registry): GrpcMetrics {
  const registers = [registry];
  const calls = new Counter({
    name: 'windlass_grpc_calls_total',
    help: 'gRPC calls that were answered.',
    labelNames: ['operation', 'code'],
    registers,
  });
  const seconds = new Histogram({
    name: 'windlass_grpc_call_seconds',
    help: 'From a call to its answer.',
    labelNames: ['operation'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  });
  return {
    callDone(report) {
      calls.inc({ operation: report.operation, code: report.code });
      seconds.observe({ operation: report.operation }, report.seconds);
    },
  };
}
