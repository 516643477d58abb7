import type { Route } from '../../../../lib/http/index.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import {
  createDrainRoute,
  createPushConfigRoute,
  createResumeRoute,
  createShutdownRoute,
  type OrderDeps,
} from './orders.ts';
import { createListRoute, createReadRoute } from './read.ts';
import { createChangeRoute, createRevokeRoute, createTagRoute } from './write.ts';

/** spec 2 §4.3. */
export const createHostRoutes = (deps: OrderDeps): Route<Caller>[] => [
  createListRoute(deps),
  createReadRoute(deps),
  createChangeRoute(deps),
  createTagRoute(deps),
  createRevokeRoute(deps),
  createDrainRoute(deps),
  createResumeRoute(deps),
  createPushConfigRoute(deps),
  createShutdownRoute(deps),
];
