import type { Route } from '../../../../lib/http/index.ts';
import type { Caller } from '../../../../lib/identity/index.ts';
import { createListRoute, createReadRoute } from './read.ts';
import { createChangeRoute, createCreateRoute, createDeleteRoute, type WriteGroupDeps } from './write.ts';

/** spec 2 §4.4. */
export const createGroupRoutes = (deps: WriteGroupDeps): Route<Caller>[] => [
  createListRoute(deps),
  createCreateRoute(deps),
  createReadRoute(deps),
  createChangeRoute(deps),
  createDeleteRoute(deps),
];
