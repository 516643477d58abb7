import { isUid } from '../../../crds/uid.ts';
import { defineRoute, json, type Route } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/index.ts';
import type { Searches } from '../../../lib/word-search.ts';
import type { Cluster } from '../../cluster/index.ts';
import { notFound, unknownAgent } from '../not-found.ts';
import { lookupAgent } from './contract.ts';
import { createDeleteRoute } from './delete.ts';
import { createListRoute } from './list.ts';
import { isGlobal, presentIdentity } from './present.ts';
import { createReadRoute } from './read.ts';
import { createRegisterRoute, type RegisterAgentDeps } from './register.ts';
import { createVersionsRoute } from './versions.ts';

export { contracts } from './contract.ts';

type LookupDeps = { readonly cluster: Pick<Cluster, 'agents' | 'tenants'> };

/** By name alone, and in the tenant alone: an agent that all tenants share is none of the resolved tenant. */
function createLookupRoute({ cluster: { agents, tenants } }: LookupDeps): Route<Caller> {
  return defineRoute<typeof lookupAgent, Caller>(lookupAgent, async ({ params: { name }, caller }) => {
    const found = isUid(name) ? undefined : await agents.locate(caller.tenant, name);
    if (found === undefined || isGlobal(found)) throw notFound(unknownAgent);
    return json(presentIdentity(tenants, found));
  });
}

/** Routes of agent definitions (spec 1 §4.1). */
export function createAgentRoutes(deps: RegisterAgentDeps & { readonly searches: Searches }): Route<Caller>[] {
  return [
    createLookupRoute(deps),
    createListRoute(deps),
    createRegisterRoute(deps),
    createReadRoute(deps),
    createVersionsRoute(deps),
    createDeleteRoute(deps),
  ];
}
