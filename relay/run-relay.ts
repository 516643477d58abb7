import { randomUUID } from 'node:crypto';
import { Gauge } from 'prom-client';
import { aborted } from '../lib/aborted.ts';
import { busOptions, createBusMetrics, createEventBus, type EventBus } from '../lib/bus/index.ts';
import { type Clock, monotonicMs } from '../lib/clock.ts';
import { createEdgeResults, createRecentCommands, relayAddress } from '../lib/edge/index.ts';
import { AppError } from '../lib/errors.ts';
import type { GrpcListener } from '../lib/grpc/listen-grpc.ts';
import { newId } from '../lib/ids.ts';
import { createInformer } from '../lib/informer/index.ts';
import { readKeyPair } from '../lib/keys/private-key.ts';
import { readPublicKeys } from '../lib/keys/public-keys.ts';
import { edgeHosts } from '../lib/kinds.ts';
import type { KubeClient } from '../lib/kube/index.ts';
import type { Logger } from '../lib/logger.ts';
import { checkPage, startHealthServer } from '../lib/process/health-server.ts';
import type { ProcessRuntime } from '../lib/process/process-runtime.ts';
import type { ServerMetrics } from '../lib/process/server-metrics.ts';
import { createTenantDirectory, createTenantInformer } from '../lib/tenant/tenant-directory.ts';
import { type RelayConfig, servesEdge } from './config.ts';
import { createKubeHosts } from './hosts/kube-hosts.ts';
import { takeOrder } from './orders.ts';
import { serveRelay } from './serve-grpc.ts';
import { Streams } from './streams/streams.ts';
import { watchOver } from './watch-over.ts';

export interface RelayDeps {
  readonly config: RelayConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly kube: KubeClient;
  readonly metrics: ServerMetrics;
  readonly runtime: Pick<ProcessRuntime, 'stop' | 'abandon'>;
  readonly readFile: (path: string) => string;
}

/** Runs one replica of the relay to its end; resolves to the exit code of the process. */
export async function runRelay(deps: RelayDeps): Promise<number> {
  const { clock, logger, metrics, runtime } = deps;
  const bus = createBus(deps);
  const relayId = randomUUID();
  const following = new AbortController();
  const { tenantInformer, hostInformer, hosts } = openHosts(deps);
  const followed = [tenantInformer.run(following.signal), hostInformer.run(following.signal)];
  const staleMs = deps.config.WINDLASS_STALE_THRESHOLD_SECS * 1_000;
  const streams = new Streams({ clock, steadyMs: monotonicMs, logger, bus, hosts, relayId, staleMs });
  let listener: GrpcListener | undefined;
  const internal = await openInternal(deps, streams, () => listener !== undefined);
  try {
    await Promise.race([Promise.all([tenantInformer.synced, hostInformer.synced]), aborted(runtime.stop)]);
    if (runtime.stop.aborted) return 0;
    const orders = bus.serve(
      relayAddress(relayId),
      takeOrder({ clock, streams, recent: createRecentCommands({ bus }) }),
      { atOnce: ordersAtOnce },
    );
    await orders.ready;
    followed.push(watchOver({ clock, steadyMs: monotonicMs, logger, bus, hosts, streams, relayId }, following.signal));
    listener = await openGrpc(deps, { bus, hosts, streams });
    logger.info({ port: listener.port, internalPort: internal.port, relay: relayId }, 'serving');
    await aborted(runtime.stop);
    metrics.registry.removeSingleMetric(hostsMetric);
    streams.endAll('this relay stops; connect again', true);
    await listener.close(runtime.abandon);
    return 0;
  } finally {
    following.abort();
    await Promise.all(followed);
    await bus.close(busGraceMs);
    await internal.close();
  }
}

const busGraceMs = 3_000;
/** Commands that wait for room in their streams. */
const ordersAtOnce = 4_096;
const hostsMetric = 'windlass_relay_hosts';

function createBus({ config, clock, logger, metrics }: RelayDeps): EventBus {
  const observer = createBusMetrics(metrics.registry);
  return createEventBus({ clock, logger, observer, random: Math.random }, 'windlass-relay', busOptions(config));
}

function openHosts({ config, kube, clock, logger, metrics }: RelayDeps) {
  const reflector = (kind: string) => ({ client: kube, clock, logger, observer: metrics.forReflector(kind) });
  const tenantInformer = createTenantInformer(reflector('Namespace'));
  const hostInformer = createInformer(reflector('EdgeHost'), { resource: edgeHosts });
  const tenants = createTenantDirectory({
    namespaces: tenantInformer.cache,
    systemTenant: config.WINDLASS_SYSTEM_TENANT,
    systemNamespace: config.WINDLASS_SYSTEM_NAMESPACE,
  });
  return { tenantInformer, hostInformer, hosts: createKubeHosts({ kube, tenants, informer: hostInformer }) };
}

function openInternal({ config, metrics }: RelayDeps, streams: Streams, isServing: () => boolean) {
  new Gauge({
    name: hostsMetric,
    help: 'Hosts whose streams this relay holds.',
    labelNames: ['state'],
    registers: [metrics.registry],
    collect() {
      for (const [state, count] of Object.entries(streams.counts())) this.set({ state }, count);
    },
  });
  const ready = { serving: () => (isServing() ? undefined : 'the listener is closed') };
  const text = async () => ({
    status: 200,
    text: await metrics.registry.metrics(),
    type: metrics.registry.contentType,
  });
  return startHealthServer({
    port: config.WINDLASS_RELAY_INTERNAL_PORT,
    host: config.WINDLASS_HTTP_HOST,
    pages: { '/health': checkPage({}), '/ready': checkPage(ready), '/metrics': text },
  });
}

interface Parts {
  readonly bus: EventBus;
  readonly hosts: ReturnType<typeof createKubeHosts>;
  readonly streams: Streams;
}

async function openGrpc(deps: RelayDeps, { bus, hosts, streams }: Parts): Promise<GrpcListener> {
  const { config, clock, logger, kube, runtime, readFile } = deps;
  const namespace = config.WINDLASS_SYSTEM_NAMESPACE;
  const { edge: edgePublicKey } = await readPublicKeys({ kube, clock, logger, namespace }, runtime.stop);
  if (edgePublicKey === undefined)
    throw new AppError('invalid', 'the API has no WINDLASS_EDGE_KEY; hosts cannot enroll');
  const relayKey = readKeyPair({ variable: 'WINDLASS_RELAY_KEY', path: config.WINDLASS_RELAY_KEY }, readFile);
  const { WINDLASS_RELAY_TLS_CERT_FILE: cert, WINDLASS_RELAY_TLS_KEY_FILE: key } = config;
  const proxies = config.WINDLASS_RELAY_TRUSTED_PROXIES.split(',').map((address) => address.trim());
  return serveRelay(
    {
      clock,
      logger,
      newId,
      bus,
      hosts,
      streams,
      relayKey,
      edgePublicKey,
      results: createEdgeResults({ bus, clock }),
      recent: createRecentCommands({ bus }),
      nodeTokenMs: config.WINDLASS_NODE_TOKEN_SECONDS * 1_000,
      overlapMs: config.WINDLASS_KEY_OVERLAP_SECONDS * 1_000,
      heartbeatMs: config.WINDLASS_CLUSTER_HEARTBEAT_INTERVAL_SECS * 1_000,
    },
    {
      port: config.WINDLASS_RELAY_PORT,
      host: config.WINDLASS_HTTP_HOST,
      tls: cert === undefined || key === undefined ? undefined : { cert: readFile(cert), key: readFile(key) },
      proxies: new Set(proxies.filter((address) => address !== '')),
      isWorker: !servesEdge(config),
    },
  );
}
