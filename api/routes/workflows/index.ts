import type { Route } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/index.ts';
import type { Searches } from '../../../lib/word-search.ts';
import { createDeleteRoute } from './delete.ts';
import { createListRoute } from './list.ts';
import { createMoveRoutes } from './move/index.ts';
import { createReadRoute } from './read.ts';
import { createRegisterRoute, createWriter, type RegisterDeps } from './register.ts';
import { createVersionsRoute } from './versions.ts';

export { contracts } from './contract.ts';

/** Routes of workflow definitions (spec 1 §4.9). */
export function createWorkflowRoutes(deps: RegisterDeps & { readonly searches: Searches }): Route<Caller>[] {
  const write = createWriter(deps);
  return [
    createRegisterRoute({ ...deps, write }),
    createListRoute(deps),
    createReadRoute(deps),
    createVersionsRoute(deps),
    createDeleteRoute(deps),
    ...createMoveRoutes({ ...deps, write }),
  ];
}
