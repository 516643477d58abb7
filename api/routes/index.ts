import type { Clock } from '../../lib/clock.ts';
import type { Route } from '../../lib/http/route.ts';
import type { KubeClient } from '../../lib/kube/index.ts';
import type { Logger } from '../../lib/logger.ts';
import type { Billing } from '../billing/index.ts';
import type { Cluster } from '../cluster/index.ts';
import type { Caller } from '../identity/caller.ts';
import { createBillingRoutes } from './billing/index.ts';
import { createDocsRoutes, type DocsRoutesDeps } from './docs/index.ts';
import { createHealthRoutes } from './service/index.ts';

/** What the routes of the public listener stand on. Each area adds what it needs. */
export interface RoutesDeps extends DocsRoutesDeps {
  readonly clock: Clock;
  readonly kube: KubeClient;
  readonly logger: Logger;
  readonly cluster: Cluster;
  readonly billing: Billing;
}

/** The routes of the public listener. */
export function createRoutes(deps: RoutesDeps): Route<Caller>[] {
  const { billing, cluster } = deps;
  return [
    createBillingRoutes({ billing, tenants: cluster.tenants }),
    createHealthRoutes<Caller>(),
    createDocsRoutes<Caller>(deps),
  ].flat();
}
