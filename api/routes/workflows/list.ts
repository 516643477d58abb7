import { defineRoute, json, type Route } from '../../../lib/http/index.ts';
import type { Cluster } from '../../cluster/index.ts';
import type { Caller } from '../../identity/index.ts';
import { listWorkflows } from './contract.ts';
import { listCursor, listPage, parseLabels } from './list-page.ts';
import { presentSummary } from './present.ts';

export function createListRoute({ cluster }: { readonly cluster: Pick<Cluster, 'workflows'> }): Route<Caller> {
  return defineRoute<typeof listWorkflows, Caller>(listWorkflows, async ({ query, caller }) => {
    const { scope, limit, cursor, label } = query;
    const all = cluster.workflows.list(caller, scope);
    const { rows, next } = listPage(all, { labels: parseLabels(label), limit, after: listCursor.decode(cursor) });
    return json({
      workflows: rows.map(presentSummary),
      next_cursor: next === undefined ? null : listCursor.encode(next),
    });
  });
}
