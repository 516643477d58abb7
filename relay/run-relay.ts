import type { KeyObject } from 'node:crypto';
import { Gauge } from 'prom-client';
import { aborted } from '../lib/aborted.ts';
import { busOptions, createBusMetrics, createEventBus, type EventBus, type EventSink } from '../lib/bus/index.ts';
import { type Clock, resultWithin } from '../lib/clock.ts';
import { createEdgeResults, createRecentCommands, type RecentCommands, relayAddress } from '../lib/edge/index.ts';
import { strangersIn } from '../lib/grpc/connections/port-connections.ts';
import type { GrpcListener } from '../lib/grpc/listen-grpc.ts';
import { ServerTls } from '../lib/grpc/mutual-tls.ts';
import { createReceivedMessages } from '../lib/grpc/receive/received-messages.ts';
import { followTlsFiles, readServerTls } from '../lib/grpc/tls-files.ts';
import { newId, newUuid } from '../lib/ids.ts';
import { createInformer } from '../lib/informer/index.ts';
import { readKeyPair } from '../lib/keys/private-key.ts';
import { readEdgePublicKey } from '../lib/keys/public-keys.ts';
import { edgeHosts } from '../lib/kinds.ts';
import type { KubeClient } from '../lib/kube/index.ts';
import type { Logger } from '../lib/logger.ts';
import { bytesOf } from '../lib/memory-budget/index.ts';
import { checkPage, startHealthServer } from '../lib/process/health-server.ts';
import { watchPools } from '../lib/process/pool-gauges.ts';
import type { ProcessRuntime } from '../lib/process/process-runtime.ts';
import type { ServerMetrics } from '../lib/process/server-metrics.ts';
import { createTenantDirectory, createTenantInformer } from '../lib/tenant/tenant-directory.ts';
import { type RelayConfig, servesEdge } from './config.ts';
import { relayStops } from './explained.ts';
import { announceHosts } from './hosts/announce-hosts.ts';
import { createKubeHosts } from './hosts/kube-hosts.ts';
import { relayHost } from './hosts/relay-host.ts';
import { LateAcks } from './late-acks.ts';
import { ordersAtOnce, takeOrder } from './orders.ts';
import { readProxies } from './rpc/trusted-proxies.ts';
import { SentCommands } from './sent-commands.ts';
import { serveRelay } from './serve-grpc.ts';
import { Streams } from './streams/streams.ts';
import { watchOver } from './watch-over.ts';

interface RelayDeps {
  readonly config: RelayConfig;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly kube: KubeClient;
  readonly metrics: ServerMetrics;
  readonly runtime: Pick<ProcessRuntime, 'stop' | 'abandon'>;
  readonly readFile: (path: string) => string;
  /** Keeps the heap of the process small, or lets it grow. */
  readonly keepHeapSmall: (isSmall: boolean) => void;
}

/**
 * Runs one replica of the relay to its end; resolves to the exit code of the process. The internal listener is there from
 * first to last. The public one opens once the caches are filled, the bus is there and the API has written its edge key.
 */
export async function runRelay(deps: RelayDeps): Promise<number> {
  const { config, clock, logger, metrics, runtime } = deps;
  const bus = createBus(deps);
  const relayId = newUuid();
  const following = new AbortController();
  const { tenantInformer, hostInformer, hosts } = openHosts(deps, bus);
  const followed = [tenantInformer.run(following.signal), hostInformer.run(following.signal)];
  const staleMs = config.WINDLASS_STALE_THRESHOLD_SECS * 1_000;
  const shared = { clock, logger, bus, hosts, relayId, staleMs };
  const streams = new Streams({ ...shared, heartbeatMs: config.WINDLASS_CLUSTER_HEARTBEAT_INTERVAL_SECS * 1_000 });
  const recent = createRecentCommands({ bus });
  const sent = new SentCommands({ clock, recent, stopping: following.signal });
  const state = { isServing: false };
  const internal = await openInternal(deps, streams, () => state.isServing);
  try {
    const orders = bus.serve(relayAddress(relayId), takeOrder({ clock, streams, sent }), { atOnce: ordersAtOnce });
    const needed = Promise.all([edgeKeyOf(deps), tenantInformer.synced, hostInformer.synced, orders.ready]);
    const found = await Promise.race([needed, aborted(runtime.stop)]);
    // Pending calls fail when the bus closes.
    needed.catch(() => undefined);
    if (found === 'aborted' || runtime.stop.aborted) return 0;
    followed.push(watchOver({ ...shared, streams, keepHeapSmall: deps.keepHeapSmall }, following.signal));
    const parts = { bus, hosts, streams, recent, sent, acks: new LateAcks(clock), signal: following.signal };
    const listener = await openGrpc(deps, { ...parts, edgePublicKey: found[0] });
    state.isServing = true;
    logger.info({ port: listener.port, internalPort: internal.port, relay: relayId }, 'serving');
    await aborted(runtime.stop);
    state.isServing = false;
    // A stream that ended at once might come back to this relay, which balancers do not yet know to be stopping.
    await clock.sleep(config.WINDLASS_DRAIN_SECONDS * 1_000, runtime.abandon);
    metrics.registry.removeSingleMetric(hostsMetric);
    await endStreams(clock, streams, parts.acks);
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
/** A daemon that reads nothing holds up no other one longer. */
const lastAcksMs = 1_000;

/** Their daemons connect elsewhere, and send the results again there that were not acknowledged here. */
async function endStreams(clock: Clock, streams: Streams, acks: LateAcks): Promise<void> {
  await resultWithin(clock, lastAcksMs, acks.sendAll());
  await streams.endAll(relayStops(), true);
}
const hostsMetric = 'windlass_relay_hosts';

function createBus({ config, clock, logger, metrics }: RelayDeps): EventBus {
  const observer = createBusMetrics(metrics.registry);
  return createEventBus({ clock, logger, observer, random: Math.random }, 'windlass-relay', busOptions(config));
}

function openHosts({ config, kube, clock, logger, metrics }: RelayDeps, events: EventSink) {
  const reflector = (kind: string) => ({ client: kube, clock, logger, observer: metrics.forReflector(kind) });
  const tenantInformer = createTenantInformer(reflector('Namespace'));
  const hostInformer = createInformer(reflector('EdgeHost'), { resource: edgeHosts, strip: relayHost });
  const tenants = createTenantDirectory({
    namespaces: tenantInformer.cache,
    systemTenant: config.WINDLASS_SYSTEM_TENANT,
    systemNamespace: config.WINDLASS_SYSTEM_NAMESPACE,
  });
  const hosts = announceHosts(createKubeHosts({ kube, tenants, informer: hostInformer }), { events, clock });
  return { tenantInformer, hostInformer, hosts };
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

/** Waits for the API, which an upgrade starts beside the relay. */
const edgeKeyOf = ({ config, kube, clock, logger, runtime }: RelayDeps): Promise<KeyObject> =>
  readEdgePublicKey({ kube, clock, logger, namespace: config.WINDLASS_SYSTEM_NAMESPACE }, runtime.stop);

interface Parts {
  readonly bus: EventBus;
  readonly hosts: ReturnType<typeof createKubeHosts>;
  readonly streams: Streams;
  readonly recent: RecentCommands;
  readonly sent: SentCommands;
  readonly acks: LateAcks;
  readonly edgePublicKey: KeyObject;
  /** Aborts when nothing is followed any more. */
  readonly signal: AbortSignal;
}

async function openGrpc(deps: RelayDeps, { signal, ...parts }: Parts): Promise<GrpcListener> {
  const { config, clock, logger, metrics, readFile } = deps;
  const relayKey = readKeyPair({ variable: 'WINDLASS_RELAY_KEY', path: config.WINDLASS_RELAY_KEY }, readFile);
  const bytes = bytesOf('messages of daemons');
  const received = createReceivedMessages({ clock, stopping: signal, bytes });
  const places = { 'requests of strangers': received.arriving };
  watchPools(metrics.registry, { bytes: { 'messages of daemons': received.pool }, places });
  return serveRelay(
    {
      ...parts,
      received,
      clock,
      logger,
      newId,
      relayKey,
      results: createEdgeResults({ bus: parts.bus, clock }),
      nodeTokenMs: config.WINDLASS_NODE_TOKEN_SECONDS * 1_000,
      overlapMs: config.WINDLASS_KEY_OVERLAP_SECONDS * 1_000,
      heartbeatMs: config.WINDLASS_CLUSTER_HEARTBEAT_INTERVAL_SECS * 1_000,
    },
    {
      port: config.WINDLASS_RELAY_PORT,
      host: config.WINDLASS_HTTP_HOST,
      credentials: await tlsOf(deps, signal),
      proxies: readProxies(config.WINDLASS_RELAY_TRUSTED_PROXIES),
      isWorker: !servesEdge(config),
      strangers: strangersIn({
        connections: bytesOf('connections of strangers'),
        waiting: bytesOf('connections that wait'),
      }),
    },
  );
}

/** Undefined without a certificate. One that is exchanged counts for new connections. */
async function tlsOf(
  { config, clock, logger, readFile }: RelayDeps,
  signal: AbortSignal,
): Promise<ServerTls | undefined> {
  const { WINDLASS_RELAY_TLS_CERT_FILE: certificate, WINDLASS_RELAY_TLS_KEY_FILE: key } = config;
  if (certificate === undefined || key === undefined) return undefined;
  const read = () => readServerTls({ certificate, key }, { readFile: async (path) => readFile(path) });
  const current = await read();
  const tls = new ServerTls(current);
  void followTlsFiles(read, { current, onChange: (files) => tls.use(files) }, { clock, logger, signal });
  return tls;
}
