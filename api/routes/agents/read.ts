import { defineRoute, json, type Route } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/index.ts';
import type { RevisionReader } from '../../../lib/registration/index.ts';
import type { Cluster } from '../../cluster/index.ts';
import { findVersion } from '../workflows/find-version.ts';
import { readAgent } from './contract.ts';
import { findAgent } from './find-agent.ts';
import { presentDefinition } from './present.ts';

interface ReadDeps {
  readonly kube: RevisionReader;
  readonly cluster: Pick<Cluster, 'agents' | 'tenants'>;
}

export function createReadRoute({ kube, cluster: { agents, tenants } }: ReadDeps): Route<Caller> {
  return defineRoute<typeof readAgent, Caller>(readAgent, async (request) => {
    const { params, query, caller } = request;
    const agent = await findAgent(agents, caller, params.agent, (bytes) => request.reserve(bytes));
    return json(presentDefinition(tenants, agent, await findVersion(kube, agent, query.version)));
  });
}
