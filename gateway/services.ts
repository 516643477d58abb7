import type { IncomingHttpHeaders } from 'node:http';
import { aborted } from '../lib/aborted.ts';
import { type ApiDocuments, createApiDocuments } from '../lib/api-spec/index.ts';
import type { AuditChain } from '../lib/audit-chain/index.ts';
import { busOptions, createBusMetrics, createEventBus, type EventBus } from '../lib/bus/index.ts';
import { createCredentials, createTokenExchange } from '../lib/credentials/index.ts';
import { startDeadline } from '../lib/deadline.ts';
import { createRateLimit } from '../lib/http/index.ts';
import { readInTurn } from '../lib/informer/index.ts';
import { createMcpServers, type McpServers } from '../lib/mcp/index.ts';
import type { HealthCheck } from '../lib/process/health-server.ts';
import { bytesOf } from '../lib/memory-budget/index.ts';
import { createUpstreamRoom, type UpstreamRoom } from '../lib/tools/web/upstream-room.ts';
import { createUpstream, type Upstream } from '../lib/upstream/index.ts';
import { openAudit } from './audit.ts';
import { chainLimitsOf, isBypass } from './config.ts';
import { createGatewayCluster, type GatewayCluster } from './cluster/cluster.ts';
import type { GatewayDeps } from './gateway-deps.ts';
import { createOperatorAuthentication, type Operator, type OperatorAuthentication } from './identity/operator.ts';
import { type HeaderDeps, ofOwnTenantInHeader } from './identity/own-tenant.ts';
import { createTenancy, type Tenancy } from './identity/tenancy.ts';
import { createLane } from './lane/lane.ts';
import { createRegistrationEvents, type RegistrationEvents } from './registry/registration-events.ts';
import { toolRivals } from './registry/rivals.ts';
import type { RoutesDeps } from './routes/index.ts';
import type { ToolSource } from './tools/tool-source.ts';
import { createCliRuns } from './tools/cli-runs.ts';
import { createCliSource } from './tools/cli-source.ts';
import { createFormerNames, type FormerNames } from './tools/former-names.ts';
import { createMcpSource } from './tools/mcp-source.ts';
import { createCredentialAnswers } from './tools/credential-answers.ts';
import { createSchemaReader, type SchemaReader } from './tools/schema-reader.ts';
import { createWorkflowSource } from './tools/workflow-source.ts';

/** Parts below the routes, and everything with a life of its own: caches, connections. */
export interface Services {
  readonly routes: RoutesDeps;
  readonly authenticate: (headers: IncomingHttpHeaders) => Promise<Operator>;
  readonly ready: Readonly<Record<string, HealthCheck>>;
  /** Resolves when requests can be answered, or when `stop` aborts. */
  start(stop: AbortSignal): Promise<void>;
  /** Ends everything; nothing is asked of the services any more. */
  close(): Promise<void>;
}

/** As in the API: a provider that is away for longer does not hold up signed calls. */
const keysPatienceMs = 15_000;

/** How long events that were raised may take to be stored when the process ends. */
const busGraceMs = 3_000;

export function createServices(deps: GatewayDeps): Services {
  const { config, clock } = deps;
  const authentication = createOperatorAuthentication(deps, config);
  const cluster = createCluster(deps);
  const bus = createBus(deps);
  const { chain: audit, keys: auditKeys } = openAudit(deps, bus);
  const tenancy = createTenancy({ audit, tenants: cluster.tenants });
  const rateLimit = createRateLimit(config.WINDLASS_RATE_LIMIT_PER_SECOND);
  const upstream = createUpstream(deps);
  const documents = createDocuments(deps, cluster);
  const former = createFormer(deps, bus, cluster);
  const registrations = createRegistrations(deps, { bus, audit, cluster });
  const credentials = createCredentialAnswers(deps, { bus, specs: cluster.informers.apiSpecs.cache });
  const { room, mcpServers } = createMcp(deps);
  const toolSources = createSources(deps, { audit, cluster, tenancy, upstream, documents, former, mcpServers, room });
  const lane = createLane({ ...deps, bus, audit, cluster, tenancy, rateLimit, toolSources });
  const following = new AbortController();
  let followed: Promise<unknown> = Promise.resolve();
  return {
    routes: { ...deps, documents, bus, audit, auditKeys, cluster, tenancy, rateLimit, lane, registrations },
    authenticate: inOwnTenant(deps, authentication, { tenancy, take: ({ tenant }) => rateLimit.take(tenant ?? '') }),
    ready: { caches: () => (cluster.hasSynced ? undefined : 'not filled yet'), audit: () => audit.problem() },
    async start(stop) {
      followed = cluster.run(following.signal);
      using patience = startDeadline(clock, keysPatienceMs, stop);
      const ready = [cluster.synced, authentication.prepare(patience.signal), lane.open(stop)];
      await Promise.race([Promise.all(ready), aborted(stop)]);
      const parts = [lane, former, mcpServers, registrations, credentials].map((part) => part.run(following.signal));
      followed = Promise.all([followed, ...parts]);
    },
    async close() {
      following.abort();
      await followed;
      await lane.close();
      await Promise.all([upstream.close(), mcpServers.close(), authentication.close()]);
      await audit.close();
      await bus.close(busGraceMs);
    },
  };
}

function inOwnTenant(
  { config }: GatewayDeps,
  authentication: OperatorAuthentication,
  own: HeaderDeps,
): Services['authenticate'] {
  // No caller of the bypass has a tenant.
  if (isBypass(config)) return (headers) => authentication.authenticate(headers);
  return async (headers) => ofOwnTenantInHeader(own, await authentication.authenticate(headers), headers);
}

interface SourceParts {
  readonly former: FormerNames;
  readonly audit: AuditChain;
  readonly cluster: GatewayCluster;
  readonly tenancy: Tenancy;
  readonly upstream: Upstream;
  readonly documents: ApiDocuments;
  readonly mcpServers: McpServers;
  readonly room: UpstreamRoom;
}

/** Servers of the node configuration; tool workflows share the room for large answers with them. */
function createMcp(deps: GatewayDeps): Pick<SourceParts, 'room' | 'mcpServers'> {
  const room = createUpstreamRoom({ clock: deps.clock, size: bytesOf('answers of upstreams') });
  return { room, mcpServers: createMcpServers({ ...deps, room }, deps.nodeConfig.mcp_servers) };
}

/** Documents of APIs, kept once for registrations and calls. */
const createDocuments = ({ kube, openApi: reader }: GatewayDeps, { informers }: GatewayCluster): ApiDocuments =>
  createApiDocuments({ kube, reader, whole: informers.apiSpecs.whole });

const createFormer = (
  { clock, logger }: GatewayDeps,
  bus: EventBus,
  { tenants, informers }: GatewayCluster,
): FormerNames =>
  createFormerNames({
    bus,
    clock,
    logger,
    tenants,
    onChange: (handler) => informers.toolWorkflows.onChange(handler),
  });

const createRegistrations = (
  deps: GatewayDeps,
  { cluster, ...parts }: Pick<RoutesDeps, 'bus' | 'audit' | 'cluster'>,
): RegistrationEvents => {
  const { tenants, informers } = cluster;
  return createRegistrationEvents({ ...deps, ...parts, tenants, workflows: informers.toolWorkflows.cache });
};

/** Tool workflows as tools. */
function createWorkflows(
  { kube, clock, logger, config }: GatewayDeps,
  parts: SourceParts & { readonly schemas: SchemaReader },
): ToolSource {
  const { cluster, upstream } = parts;
  const { apiSpecs, toolWorkflows } = cluster.informers;
  return createWorkflowSource({
    ...parts,
    clock,
    logger,
    objects: toolWorkflows.cache,
    rivals: toolRivals(cluster.informers),
    limits: chainLimitsOf(config),
    whole: readInTurn(toolWorkflows),
    apiSpecs: apiSpecs.cache,
    credentials: createCredentials({ kube, clock, tokens: createTokenExchange({ clock, upstream }) }),
  });
}

function createSources(deps: GatewayDeps, parts: SourceParts): ToolSource[] {
  const { cliTools, cliRuns } = parts.cluster.informers;
  const { tenancy } = parts;
  const rivals = toolRivals(parts.cluster.informers);
  const [objects, whole] = [cliTools.cache, readInTurn(cliTools)];
  const schemas = createSchemaReader(deps.clock);
  const clis = createCliSource({ ...deps, tenancy, rivals, objects, whole, schemas, runs: createCliRuns(cliRuns) });
  // The operator of the installation names MCP servers, so that no tenant takes the name of one of their tools.
  return [createMcpSource(parts.mcpServers), createWorkflows(deps, { ...parts, schemas }), clis];
}

function createCluster({ kube, clock, logger, metrics, config }: GatewayDeps): GatewayCluster {
  return createGatewayCluster({
    kube,
    clock,
    reflector: (kind) => ({ client: kube, clock, logger, observer: metrics.forReflector(kind) }),
    systemTenant: config.WINDLASS_SYSTEM_TENANT,
    systemNamespace: config.WINDLASS_SYSTEM_NAMESPACE,
  });
}

function createBus({ config, clock, logger, metrics }: GatewayDeps): EventBus {
  const observer = createBusMetrics(metrics.registry);
  return createEventBus({ clock, logger, observer, random: Math.random }, 'windlass-gateway', busOptions(config));
}
