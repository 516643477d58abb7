import type { ApiDocuments } from '../../lib/api-spec/index.ts';
import type { AuditChain } from '../../lib/audit-chain/index.ts';
import type { EventBus } from '../../lib/bus/index.ts';
import { createDocsRoutes } from '../../lib/http/docs/index.ts';
import type { RateLimit } from '../../lib/http/rate-limit.ts';
import type { Route } from '../../lib/http/route.ts';
import { createHealthRoutes } from '../../lib/http/service/index.ts';
import { createSearches } from '../../lib/word-search.ts';
import type { AuditPublicKeys } from '../audit.ts';
import type { GatewayCluster } from '../cluster/cluster.ts';
import { chainLimitsOf, isBypass } from '../config.ts';
import type { GatewayDeps } from '../gateway-deps.ts';
import type { Operator } from '../identity/operator.ts';
import type { Tenancy } from '../identity/tenancy.ts';
import type { Lane } from '../lane/lane.ts';
import { openApiDocument } from '../openapi/document.ts';
import { createChangeEvents } from '../registry/change-events.ts';
import type { RegistrationEvents } from '../registry/registration-events.ts';
import { createReplicaNews } from '../registry/replica-news.ts';
import { createAuditEventRoutes } from './audit-events/index.ts';
import { createInvokeRoutes } from './invoke/index.ts';
import { createMcpRoutes } from './mcp/index.ts';
import { createRegistrationRoutes } from './registrations.ts';
import { createSecurityContextRoutes } from './security-contexts/index.ts';
import { createSessionRoutes } from './sessions/index.ts';
import { createToolRoutes } from './tools/index.ts';

/** Parts that the routes of the public listener are made with. Each area adds what it needs. */
export interface RoutesDeps extends GatewayDeps {
  readonly bus: EventBus;
  readonly audit: AuditChain;
  readonly auditKeys: AuditPublicKeys;
  readonly cluster: GatewayCluster;
  readonly tenancy: Tenancy;
  readonly rateLimit: RateLimit;
  readonly lane: Lane;
  readonly registrations: RegistrationEvents;
  /** Documents of registered APIs. */
  readonly documents: ApiDocuments;
}

/** The routes of the public listener. */
export function createRoutes(deps: RoutesDeps): Route<Operator>[] {
  const { lane } = deps;
  const news = createReplicaNews(lane.revocations, deps.clock);
  const changes = createChangeEvents(deps.audit);
  return [
    createInvokeRoutes({ ...lane, isBypass: isBypass(deps.config) }),
    createMcpRoutes({ ...lane, isBypass: isBypass(deps.config) }),
    createToolRoutes({ ...lane, searches: createSearches(deps.clock) }),
    createSessionRoutes({ ...deps, ...lane }),
    createSecurityContextRoutes({ ...deps, news, changes, contexts: deps.cluster.informers.securityContexts.cache }),
    createAuditEventRoutes(deps),
    createHealthRoutes<Operator>(),
    createDocsRoutes<Operator>({ ...deps, title: 'Windlass tool gateway', openApiDocument }),
    createRegistrationRoutes({ ...deps, news, changes, stepsMax: chainLimitsOf(deps.config).steps }),
  ].flat();
}
