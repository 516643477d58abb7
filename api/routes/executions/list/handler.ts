import { defineRoute, json, type Route } from '../../../../lib/http/index.ts';
import type { Cluster } from '../../../cluster/index.ts';
import type { Caller } from '../../../identity/caller.ts';
import { timeCursor } from '../../paging.ts';
import { presentSummary } from '../present.ts';
import { listExecutions } from './contract.ts';
import { pageOf } from './page.ts';

export function createListRoute({ cluster }: { readonly cluster: Pick<Cluster, 'executions'> }): Route<Caller> {
  return defineRoute<typeof listExecutions, Caller>(listExecutions, async ({ query: { cursor, ...query }, caller }) => {
    const after = timeCursor.decode(cursor);
    const { rows, next } = pageOf(cluster.executions.list(caller.tenant), { ...query, after });
    return json({
      executions: rows.map(presentSummary),
      next_cursor: next === undefined ? null : timeCursor.encode(next),
    });
  });
}
