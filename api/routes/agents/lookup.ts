import { defineRoute, json, type Route } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/index.ts';
import { isUid } from '../../../crds/uid.ts';
import type { Cluster } from '../../cluster/index.ts';
import { notFound, unknownAgent } from '../not-found.ts';
import { lookupAgent } from './contract.ts';
import { isGlobal, presentIdentity } from './present.ts';

type LookupDeps = { readonly cluster: Pick<Cluster, 'agents' | 'tenants'> };

/** By name alone, and in the tenant alone: an agent that all tenants share is none of the resolved tenant. */
export function createLookupRoute({ cluster: { agents, tenants } }: LookupDeps): Route<Caller> {
  return defineRoute<typeof lookupAgent, Caller>(lookupAgent, async ({ params: { name }, caller }) => {
    const found = isUid(name) ? undefined : await agents.locate(caller.tenant, name);
    if (found === undefined || isGlobal(found)) throw notFound(unknownAgent);
    return json(presentIdentity(tenants, found));
  });
}
