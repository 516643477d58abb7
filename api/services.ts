import type { IncomingHttpHeaders } from 'node:http';
import { aborted } from '../lib/aborted.ts';
import { archiveOwnerOf, createArchive } from '../lib/archive/create-archive.ts';
import {
  type AuditTrail,
  busOptions,
  createAuditTrail,
  createBusMetrics,
  createEventBus,
  type EventBus,
} from '../lib/bus/index.ts';
import { notConfiguredProblem } from '../lib/bus/absent-bus.ts';
import { startDeadline } from '../lib/deadline.ts';
import { createRateLimit } from '../lib/http/index.ts';
import type { HealthCheck } from '../lib/process/health-server.ts';
import { type Agents, createAgents } from './agents/index.ts';
import { isAgent, openRegisteredTools, type RegisteredToolSource } from './agents/registered/index.ts';
import type { ApiDeps } from './api-deps.ts';
import { createBilling } from './billing/index.ts';
import { type Cluster, createCluster } from './cluster/index.ts';
import { type Caller, createAuthentication } from '../lib/identity/index.ts';
import { createSealSessions, type SealKey } from '../lib/envelope/index.ts';
import type { Toolbox } from '../lib/tools/tool.ts';
import { createToolbox } from '../lib/tools/toolbox.ts';
import { createSearches, type Searches } from '../lib/word-search.ts';
import { type Keys, loadKeys, publishKeys } from './keys.ts';
import { createCallRooms } from './tools/call-room.ts';
import { createExecutionPhases } from './tools/execution-phases.ts';
import { createOperations, type Operations } from './tools/operations.ts';
import { serveBuiltinTools } from './tools/serve-builtin.ts';
import { type LeavingTimes, leavingTimesOf } from './leaving-times.ts';
import { openToolCalls, type ToolCalls } from './tool-calls/index.ts';
import { createServiceTools } from './tools/service-tools.ts';
import { createRouterAgent } from './ingest/router-agent.ts';
import { createStimuli } from './ingest/index.ts';
import { type ArchivedObjects, createArchives } from './routes/archived.ts';
import type { RoutesDeps } from './routes/index.ts';

/** Dependencies of the routes, and parts that run by themselves: caches, connections, sensors. */
export interface Services {
  readonly routes: RoutesDeps;
  readonly agents: Agents;
  /** Those of the routes, for tools; served once the routes are made. */
  readonly operations: Operations;
  readonly authenticate: (headers: IncomingHttpHeaders) => Promise<Caller>;
  readonly ready: Readonly<Record<string, HealthCheck>>;
  /** Resolves when requests can be answered, or when `stop` aborts. Agents and calls of tools leave from that moment on. */
  start(stop: AbortSignal): Promise<void>;
  /** Ends everything; nothing is asked of the services any more. */
  close(): Promise<void>;
}

export function createServices(deps: ApiDeps): Services {
  const { config } = deps;
  const authentication = createAuthentication(deps, config);
  const cluster = createOwnCluster(deps);
  const bus = createBus(deps);
  const shared = createShared(deps, bus, cluster);
  const keys = loadKeys(deps);
  const { audit, searches } = shared;
  const workers = createWorkers({ ...deps, sealKey: keys.seal, audit, searches }, bus, cluster);
  const { agents, operations } = workers;
  return {
    routes: {
      ...deps,
      ...shared,
      edge: edgeOf(deps, keys),
      feed: agents.feed,
      seal: agents.seal,
      billing: createBilling(config, deps),
    },
    agents,
    operations,
    authenticate: (headers) => authentication.authenticate(headers),
    ready: { caches: () => (cluster.hasSynced ? undefined : 'not filled yet') },
    ...lifeOf(deps, { bus, cluster, workers, authentication, stimuli: shared.stimuli, keys }),
  };
}

interface Parts {
  readonly bus: EventBus;
  readonly cluster: Cluster;
  readonly workers: Workers;
  readonly authentication: ReturnType<typeof createAuthentication>;
  readonly stimuli: ReturnType<typeof createStimuli>;
  readonly keys: Keys;
}

/** The workers leave first: they need the caches and the bus until then. */
function lifeOf(
  deps: ApiDeps,
  { bus, cluster, workers, authentication, stimuli, keys }: Parts,
): Pick<Services, 'start' | 'close'> {
  const { clock, config } = deps;
  const { admission } = workers.agents;
  const leaving = new AbortController();
  const following = new AbortController();
  let worked: Promise<unknown> = Promise.resolve();
  let followed: Promise<unknown> = Promise.resolve();
  return {
    async start(stop) {
      const { signal } = following;
      followed = Promise.all([cluster.run(signal), admission.run(signal)]);
      using patience = startDeadline(clock, keysPatienceMs, stop);
      const admitted = Promise.race([admission.opened, clock.sleep(natsPatienceMs, stop)]);
      const ready = [synced(cluster), authentication.prepare(patience.signal), admitted];
      await Promise.race([Promise.all(ready), aborted(stop)]);
      const stopping = AbortSignal.any([stop, leaving.signal]);
      worked = runWorkers(workers, { bus, clock, tenants: cluster.tenants, leaving: timesOf(config) }, stopping);
      followed = Promise.all([followed, stimuli.run(signal), publishKeys(deps, keys, signal)]);
    },
    async close() {
      leaving.abort();
      // Events that were raised are stored, whatever a worker still waits for.
      await Promise.race([worked, aborted(deps.runtime.abandon)]);
      following.abort();
      await followed;
      await admission.close();
      await authentication.close();
      await bus.close(busGraceMs);
    },
  };
}

const timesOf = ({ WINDLASS_GRACE_SECONDS: seconds }: ApiDeps['config']): LeavingTimes =>
  leavingTimesOf(seconds * 1_000);

/** Hosts are enrolled where there is a key to sign with and an address to connect to. */
function edgeOf({ config }: ApiDeps, { edge }: Keys): RoutesDeps['edge'] {
  const { WINDLASS_EDGE_ENDPOINT: endpoint } = config;
  return edge === undefined || endpoint === undefined ? undefined : { key: edge.privateKey, endpoint };
}

/** Everything that more than one route uses. */
function createShared(deps: ApiDeps, bus: EventBus, cluster: Cluster) {
  const { config, kube, clock, logger, metrics, newId } = deps;
  const { WINDLASS_SYSTEM_TENANT: systemTenant } = config;
  return {
    cluster,
    bus,
    audit: createAuditTrail({ events: bus, clock, newId }, 'api'),
    stimuli: createStimuli({
      kube,
      clock,
      logger,
      bus,
      cluster,
      systemTenant,
      registry: metrics.registry,
      classifier: createRouterAgent({
        kube,
        clock,
        cluster,
        current: (uid) => cluster.informers.agentExecutions.cache.getByUid(uid),
      }),
    }),
    archived: createArchived(deps, bus, cluster),
    rateLimit: createRateLimit(config.WINDLASS_RATE_LIMIT_PER_SECOND),
    searches: createSearches(clock),
  };
}

function createOwnCluster({ config, kube, clock, logger, metrics }: ApiDeps): Cluster {
  return createCluster({
    kube,
    clock,
    reflector: (kind) => ({ client: kube, clock, logger, observer: metrics.forReflector(kind) }),
    systemTenant: config.WINDLASS_SYSTEM_TENANT,
    systemNamespace: config.WINDLASS_SYSTEM_NAMESPACE,
  });
}

type Workers = Pick<Services, 'agents' | 'operations'> & { readonly toolCalls: ToolCalls };

/** Agents, calls of workflows, and the tools that both work with. */
function createWorkers(
  deps: ApiDeps & { readonly sealKey: SealKey; readonly audit: AuditTrail; readonly searches: Searches },
  bus: EventBus,
  cluster: Cluster,
): Workers {
  const operations = createOperations(deps.clock);
  const registered = openRegisteredTools({
    ...deps,
    bus,
    key: deps.sealKey,
    sessions: createSealSessions(bus, cluster.tenants),
  });
  const toolbox = createTools(deps, { ...deps, cluster, operations, bus, registered });
  const leaving = timesOf(deps.config);
  const agents = createAgents({ ...deps, bus, cluster, registered, toolbox, leaving });
  const { calls } = agents.seal;
  const toolCalls = openToolCalls({ ...deps, bus, cluster, toolbox, registered, calls, graceMs: leaving.callsMs });
  return { operations, agents, toolCalls };
}

interface ToolParts {
  readonly cluster: Cluster;
  readonly operations: Operations;
  readonly audit: AuditTrail;
  readonly bus: EventBus;
  readonly registered: RegisteredToolSource;
  readonly searches: Searches;
}

/** Every tool that this process runs by itself, or has run in a pod. */
function createTools(
  { clock, config, kube, largeAnswers, manifests, newId, nodeConfig, webTools }: ApiDeps,
  { cluster, operations, audit, bus, registered, searches }: ToolParts,
): Toolbox {
  const serviceTools = createServiceTools({
    clock,
    kube,
    manifests,
    nodeConfig,
    operations,
    phases: createExecutionPhases(cluster),
    rooms: createCallRooms(clock, largeAnswers),
    audit,
    newId,
    searches,
    events: bus,
    tenants: cluster.tenants,
    helperImage: config.WINDLASS_SYSTEM_IMAGE,
    gitImage: config.WINDLASS_GIT_IMAGE,
    publicUrl: (config.WINDLASS_PUBLIC_URL ?? '').replace(/\/$/, ''),
    remember: (workflow) => cluster.workflows.remember(workflow),
    agentIdOf: async (tenant, name) => (await cluster.agents.locate(tenant, name))?.metadata.uid,
    offered: (caller) => toolbox.offered(caller),
    registered: async (caller, signal) => (isAgent(caller) ? registered.offered(caller, signal) : []),
  });
  const toolbox = createToolbox(nodeConfig, { ...webTools, ...serviceTools });
  return toolbox;
}

/** Conversations are kept in NATS, and replicas ask each other there: without it, executions of agents and calls of tools wait. */
async function runWorkers(
  { agents: { drivers, endSessions, seal }, toolCalls }: Workers,
  deps: Pick<ApiDeps, 'clock'> & Pick<Cluster, 'tenants'> & { readonly bus: EventBus; readonly leaving: LeavingTimes },
  stop: AbortSignal,
): Promise<void> {
  if (deps.bus.problem() === notConfiguredProblem) return;
  const builtin = serveBuiltinTools({
    ...deps,
    toolbox: seal.toolbox,
    runningCaller: (execution_id, tenant) => seal.callerOf({ execution_id, tenant }),
  });
  const closed = aborted(stop).then(() => builtin.close(deps.leaving.callsMs));
  await Promise.all([drivers.run(stop), endSessions.run(stop), toolCalls.run(stop), closed]);
}

/**
 * How long a replica waits for the provider's keys before it serves: the one that it takes over from has them. A provider
 * that is away for longer does not hold up webhooks.
 */
const keysPatienceMs = 15_000;
/** The same for NATS, without which it lets no signed call in. */
const natsPatienceMs = 3_000;

/** How long events that were raised may take to be stored when the process ends. */
const busGraceMs = 3_000;

function createBus({ config, clock, logger, metrics }: ApiDeps): EventBus {
  const observer = createBusMetrics(metrics.registry);
  return createEventBus({ clock, logger, observer, random: Math.random }, 'windlass-api', busOptions(config));
}

/** Readers of an execution may read its record: those of the tenant whose namespace it was in. */
function createArchived({ config, clock }: ApiDeps, bus: EventBus, { tenants, informers }: Cluster): ArchivedObjects {
  return createArchives({
    archive: createArchive({ bus, clock }, config),
    clock,
    ownerOf(tenant) {
      const namespace = tenants.namespaceOf(tenant);
      return namespace === undefined ? undefined : archiveOwnerOf(informers.tenants.cache, namespace);
    },
  });
}

async function synced({ informers }: Cluster): Promise<void> {
  await Promise.all(Object.values(informers).map((informer) => informer.synced));
}
