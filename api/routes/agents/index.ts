import type { Route } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/index.ts';
import { createDeleteRoute } from './delete.ts';
import { createListRoute } from './list.ts';
import { createLookupRoute } from './lookup.ts';
import { createReadRoute } from './read.ts';
import { createRegisterRoute, type RegisterAgentDeps } from './register.ts';
import { createVersionsRoute } from './versions.ts';

export { contracts } from './contract.ts';

/** Routes of agent definitions (spec 1 §4.1). */
export function createAgentRoutes(deps: RegisterAgentDeps): Route<Caller>[] {
  return [
    createLookupRoute(deps),
    createListRoute(deps),
    createRegisterRoute(deps),
    createReadRoute(deps),
    createVersionsRoute(deps),
    createDeleteRoute(deps),
  ];
}
