import type { Route } from '../../../../lib/http/index.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import { createCancelRoute } from './cancel.ts';
import { createInvokeRoute } from './invoke.ts';
import type { FleetDeps } from './ports.ts';
import { createPreviewRoute } from './preview.ts';
import { createListRoute, createReadRoute } from './read.ts';

/** spec 2 §4.5. */
export const createFleetRoutes = (deps: FleetDeps): Route<Caller>[] => [
  createPreviewRoute(deps),
  createInvokeRoute(deps),
  createCancelRoute(deps),
  createListRoute(deps),
  createReadRoute(deps),
];
