import type { Agent } from '../../../crds/schema/agent.ts';
import { isLabelName } from '../../../crds/label-name.ts';
import { defineRoute, json, type Route } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/index.ts';
import type { Cluster } from '../../cluster/index.ts';
import { createListCursor, pageOf } from '../../../lib/http/paging.ts';
import type { Searches } from '../../../lib/word-search.ts';
import { listAgents } from './contract.ts';
import { presentIdentity } from './present.ts';

const cursors = createListCursor<string>(
  'agents',
  (name) => name,
  (text) => (isLabelName(text) ? text : undefined),
);

const byName = {
  keyOf: ({ metadata }: Agent): string => metadata.name,
  compare: (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1),
};

const textOf = ({ metadata, spec }: Agent): string => `${metadata.name} ${spec.description ?? ''}`;

interface ListDeps {
  readonly cluster: Pick<Cluster, 'agents' | 'tenants'>;
  readonly searches: Searches;
}

export function createListRoute({ cluster: { agents, tenants }, searches }: ListDeps): Route<Caller> {
  return defineRoute<typeof listAgents, Caller>(listAgents, async ({ query: { q, limit, cursor }, caller }) => {
    const wanted = await searches.rowsHolding({ tenant: caller.tenant, words: q }, agents.list(caller.tenant), textOf);
    const { rows, next } = pageOf(wanted, byName, { limit, after: cursors.decode(cursor) });
    return json({
      agents: rows.map((agent) => presentIdentity(tenants, agent)),
      next_cursor: next === undefined ? null : cursors.encode(next),
    });
  });
}
