import type { Route } from '../../../../lib/http/index.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import { createListRoute, createReadRoute } from './read.ts';
import { createChangeRoute, createRevokeRoute, createTagRoute, type WriteHostDeps } from './write.ts';

/** spec 2 §4.3. */
export const createHostRoutes = (deps: WriteHostDeps): Route<Caller>[] => [
  createListRoute(deps),
  createReadRoute(deps),
  createChangeRoute(deps),
  createTagRoute(deps),
  createRevokeRoute(deps),
];
