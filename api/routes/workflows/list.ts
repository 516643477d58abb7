import { setImmediate } from 'node:timers/promises';
import type { ListedWorkflow } from '../../../lib/workflow-lookup/index.ts';
import { defineRoute, json, type Route } from '../../../lib/http/index.ts';
import type { Searches } from '../../../lib/word-search.ts';
import type { Cluster } from '../../cluster/index.ts';
import type { Caller } from '../../../lib/identity/index.ts';
import { listWorkflows } from './contract.ts';
import { keepsMetadata, listCursor, listPage, parseLabels } from './list-page.ts';
import { presentSummary } from './present.ts';
import type { WorkflowSummary } from './schema.ts';

interface ListDeps {
  readonly cluster: Pick<Cluster, 'workflows'>;
  readonly searches: Searches;
}

export function createListRoute({ cluster, searches }: ListDeps): Route<Caller> {
  return defineRoute<typeof listWorkflows, Caller>(listWorkflows, async ({ query, caller }) => {
    const { scope, limit, cursor, label, q } = query;
    const all = cluster.workflows.list(caller, scope);
    const { rows, next } = await listPage(all, {
      searches,
      tenant: caller.tenant,
      labels: parseLabels(label),
      words: q,
      limit,
      after: listCursor.decode(cursor),
    });
    return json({
      workflows: await presentAll(cluster, rows),
      next_cursor: next === undefined ? null : listCursor.encode(next),
    });
  });
}

/**
 * One after another: fields that the cache does not keep may be of any size. A workflow deleted meanwhile is left out.
 */
async function presentAll(
  { workflows }: Pick<Cluster, 'workflows'>,
  rows: readonly ListedWorkflow[],
): Promise<WorkflowSummary[]> {
  const summaries: WorkflowSummary[] = [];
  for (const row of rows) {
    const shown = row.isCut === true ? await workflows.whole(row) : row;
    if (shown === undefined) continue;
    summaries.push(presentSummary(shown));
    // Kept labels take milliseconds to show; other requests are served in between.
    if (keepsMetadata(shown)) await setImmediate();
  }
  return summaries;
}
