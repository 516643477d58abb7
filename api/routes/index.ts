import type { AuditTrail, EventBus } from '../../lib/bus/index.ts';
import type { Clock } from '../../lib/clock.ts';
import { createGate } from '../../lib/decision/gate.ts';
import { createFleetCapable } from '../../lib/tools/fleet-capable.ts';
import { createEdgeResults, createHeartbeats, createHostCommands, createRecentCommands } from '../../lib/edge/index.ts';
import type { OutputReader } from '../../lib/execution/output-reader.ts';
import type { RateLimit } from '../../lib/http/rate-limit.ts';
import type { Route } from '../../lib/http/route.ts';
import type { NewId } from '../../lib/ids.ts';
import type { KubeClient } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import type { NodeConfig } from '../../lib/node-config/index.ts';
import type { Billing } from '../billing/index.ts';
import type { Cluster } from '../cluster/index.ts';
import type { ManifestReader } from '../../lib/manifest/index.ts';
import type { Caller } from '../../lib/identity/caller.ts';
import type { Stimuli } from '../ingest/index.ts';
import type { ConversationFeed } from '../agents/conversation/feed.ts';
import { createAgentExecutionRoutes } from './agent-executions/index.ts';
import { createAgentRoutes } from './agents/index.ts';
import { createBillingRoutes } from './billing/index.ts';
import { createDiscoveryRoutes, type DiscoveryDeps } from './discovery/index.ts';
import { createDocsRoutes, type DocsRoutesDeps } from '../../lib/http/docs/index.ts';
import { openApiDocument } from '../openapi/document.ts';
import type { ArchivedObjects } from './archived.ts';
import { createRunNews } from './edge/fleet/news.ts';
import { createRunRecords } from './edge/fleet/records.ts';
import { createEdgeRoutes, type EdgeRoutesDeps } from './edge/index.ts';
import { createExecutionRoutes } from './executions/index.ts';
import { createHumanApprovalRoutes } from './human-approvals/index.ts';
import { createHealthRoutes } from '../../lib/http/service/index.ts';
import { createSealRoutes, type SealRoutesDeps } from './seal/index.ts';
import { createStimuliRoutes } from './stimuli/index.ts';
import { createVolumeRoutes } from './volumes/index.ts';
import { createWebhookRoutes } from './webhooks/index.ts';
import type { Searches } from '../../lib/word-search.ts';
import type { WebhookSecrets } from './webhooks/secrets.ts';
import { createWorkflowRoutes } from './workflows/index.ts';

/** Dependencies of the routes of the public listener. Each area adds what it needs. */
export interface RoutesDeps extends Pick<DocsRoutesDeps, 'readDocsScript'>, DiscoveryDeps {
  readonly clock: Clock;
  readonly kube: KubeClient;
  readonly logger: Logger;
  readonly cluster: Cluster;
  readonly billing: Billing;
  readonly bus: EventBus;
  /** Records every act of a caller for later questions. */
  readonly audit: AuditTrail;
  readonly newId: NewId;
  readonly manifests: ManifestReader;
  readonly nodeConfig: NodeConfig;
  readonly outputs: OutputReader;
  readonly archived: ArchivedObjects;
  readonly stimuli: Stimuli;
  readonly webhookSecrets: WebhookSecrets;
  /** For transports that learn late whose a request is. */
  readonly rateLimit: RateLimit;
  /** All transports share it, so each tenant has one search quota per process. */
  readonly searches: Searches;
  readonly feed: ConversationFeed;
  /** Undefined where edge mode is off. */
  readonly edge: EdgeRoutesDeps['edge'];
  readonly seal: Omit<SealRoutesDeps, 'audit' | 'clock' | 'kube' | 'newId' | 'rateLimit' | 'tenants'>;
}

/** The routes of the public listener. */
export function createRoutes(deps: RoutesDeps): Route<Caller>[] {
  const { archived, billing, bus, clock, cluster, rateLimit, stimuli, webhookSecrets: secrets } = deps;
  const gate = createGate(deps);
  return [
    createWorkflowRoutes(deps),
    createExecutionRoutes({ ...deps, archived: archived.workflows, gate }),
    createAgentRoutes(deps),
    createAgentExecutionRoutes({ ...deps, archived: archived.agents }),
    createHumanApprovalRoutes({ ...deps, gate }),
    createVolumeRoutes({ ...deps, tenants: cluster.tenants }),
    createEdgeRoutes({
      ...deps,
      runNews: createRunNews(cluster.informers.fleetRuns),
      records: createRunRecords(deps),
      fleetCapable: createFleetCapable(deps),
      results: createEdgeResults(deps),
      recent: createRecentCommands(deps),
      heartbeats: createHeartbeats(deps),
      hostCommands: createHostCommands(deps),
    }),
    createBillingRoutes({ billing, tenants: cluster.tenants }),
    createStimuliRoutes({ ...stimuli, clock }),
    createWebhookRoutes({ ...stimuli, clock, secrets, events: bus, rateLimit }),
    createSealRoutes({ ...deps, ...deps.seal, rateLimit, tenants: cluster.tenants }),
    createHealthRoutes<Caller>(),
    createDiscoveryRoutes<Caller>(deps),
    createDocsRoutes<Caller>({ ...deps, title: 'Windlass API', openApiDocument }),
  ].flat();
}
