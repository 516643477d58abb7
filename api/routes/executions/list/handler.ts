import { defineRoute, json, type Route } from '../../../../lib/http/index.ts';
import type { Cluster } from '../../../cluster/index.ts';
import type { Caller } from '../../../identity/caller.ts';
import { presentSummary } from '../present.ts';
import { listExecutions } from './contract.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import { pageOf } from './page.ts';

export function createListRoute({ cluster }: { readonly cluster: Pick<Cluster, 'executions'> }): Route<Caller> {
  return defineRoute<typeof listExecutions, Caller>(listExecutions, async ({ query: { cursor, ...query }, caller }) => {
    const after = cursor === undefined ? {} : { after: decodeCursor(cursor) };
    const { executions, next } = pageOf(cluster.executions.list(caller.tenant), { ...query, ...after });
    return json({
      executions: executions.map(presentSummary),
      next_cursor: next === undefined ? null : encodeCursor(next),
    });
  });
}
