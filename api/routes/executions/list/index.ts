import { limits } from '../../../../crds/limits.ts';
import type { WorkflowExecution } from '../../../../crds/schema/workflow-execution.ts';
import { defineRoute, json, type Route } from '../../../../lib/http/index.ts';
import type { Cluster } from '../../../cluster/index.ts';
import type { Caller } from '../../../../lib/identity/caller.ts';
import { createTimeCursor } from '../../../../lib/http/paging.ts';
import { createArchiveCursor, type ArchivedExecutions } from '../../archived.ts';
import { isShown } from '../is-shown.ts';
import { presentSummary } from '../present.ts';
import { listExecutions } from './contract.ts';
import { fits, executionPage, type PageQuery } from './page.ts';

const timeCursor = createTimeCursor('executions');
const archiveCursor = createArchiveCursor('executions');

interface ListDeps {
  readonly cluster: Pick<Cluster, 'executions'>;
  readonly archived: Pick<ArchivedExecutions, 'page'>;
}

export function createListRoute(deps: ListDeps): Route<Caller> {
  const { cluster, archived: archive } = deps;
  return defineRoute<typeof listExecutions, Caller>(listExecutions, async ({ query, caller }) => {
    const { tenant } = caller;
    const { cursor, archived, ...wanted } = query;
    if (archived) return json(await archivedPage(archive, caller, { ...wanted, cursor }));
    const after = timeCursor.decode(cursor);
    const { rows, next } = await executionPage(shownTo(caller, cluster.executions.list(tenant)), { ...wanted, after });
    return json({
      executions: rows.map(presentSummary),
      next_cursor: next === undefined ? null : timeCursor.encode(next),
    });
  });
}

const shownTo = (caller: Caller, executions: readonly WorkflowExecution[]): readonly WorkflowExecution[] =>
  // Few callers are agents, and a tenant may have thousands of executions.
  caller.callingExecution === undefined ? executions : executions.filter((execution) => isShown(execution, caller));

type ArchivedQuery = Omit<PageQuery, 'after'> & { readonly cursor: string | undefined };

/** One page of the store, of which those rows are shown that were asked for: however few there are, it is one read. */
async function archivedPage(archive: ListDeps['archived'], caller: Caller, query: ArchivedQuery) {
  const limit = Math.min(query.limit, limits.pageSizeMax);
  const { rows, next } = await archive.page(caller.tenant, { after: archiveCursor.decode(query.cursor), limit });
  const shown = shownTo(caller, rows).filter((row) => fits(row, { ...query, after: undefined }));
  return {
    executions: shown.map((row) => ({ ...presentSummary(row), archived: true })),
    next_cursor: next === undefined ? null : archiveCursor.encode(next),
  };
}
