import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { labels } from '../../../crds/labels.ts';
import { limits } from '../../../crds/limits.ts';
import type { QueryOf } from '../../../lib/http/contract.ts';
import { defineRoute, json, type Route } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import { createArchiveCursor, type ArchivedAgentExecutions } from '../archived.ts';
import { newestPage } from '../executions/list/page.ts';
import { createTimeCursor } from '../../../lib/http/paging.ts';
import { listAgentExecutions, readAgentExecution, readAgentTranscript } from './contract.ts';
import { notFound, unknownExecution } from '../not-found.ts';
import { presentExecution, presentSummary } from './present.ts';
import { type SourceDeps, executionSource } from './source.ts';

const timeCursor = createTimeCursor('agent-executions');
const archiveCursor = createArchiveCursor('agent-executions');

type ListDeps = Pick<SourceDeps, 'cluster'> & { readonly archived: Pick<ArchivedAgentExecutions, 'page'> };

export function createListRoute({ cluster, archived }: ListDeps): Route<Caller> {
  return defineRoute<typeof listAgentExecutions, Caller>(listAgentExecutions, async ({ query, caller: { tenant } }) => {
    if (query.archived) return json(await archivedPage(archived, tenant, query));
    const page = { limit: query.limit, after: timeCursor.decode(query.cursor) };
    const all = cluster.agentExecutions.list(tenant);
    const { rows, next } = await newestPage(all, page, (execution) => isWanted(execution, query));
    return json({
      executions: rows.map(presentSummary),
      next_cursor: next === undefined ? null : timeCursor.encode(next),
    });
  });
}

type ListQuery = QueryOf<typeof listAgentExecutions>;

/** One page of the store, of which those rows are shown that were asked for: however few there are, it is one read. */
async function archivedPage(archived: ListDeps['archived'], tenant: string, query: ListQuery) {
  const limit = Math.min(query.limit, limits.pageSizeMax);
  const { rows, next } = await archived.page(tenant, { after: archiveCursor.decode(query.cursor), limit });
  const shown = rows.filter((row) => isWanted(row, query));
  return {
    executions: shown.map((row) => ({ ...presentSummary(row), archived: true })),
    next_cursor: next === undefined ? null : archiveCursor.encode(next),
  };
}

function isWanted({ metadata, spec, status }: AgentExecution, { agent, status: phase }: ListQuery): boolean {
  const { phase: own = 'pending', agent: fixed } = status ?? {};
  if (phase !== undefined && own !== phase) return false;
  return agent === undefined || [fixed?.name, fixed?.uid, spec.agent, metadata.labels?.[labels.agent]].includes(agent);
}

export function createReadRoute({ cluster, archived }: Pick<SourceDeps, 'cluster' | 'archived'>): Route<Caller> {
  return defineRoute<typeof readAgentExecution, Caller>(readAgentExecution, async (request) => {
    const { params, caller } = request;
    const reserve = (bytes: number): Promise<void> => request.reserve(bytes);
    const execution = await cluster.agentExecutions.find(caller.tenant, params.execution_id, reserve);
    if (execution !== undefined) return json(presentExecution(execution));
    const view = await archived.find(caller.tenant, params.execution_id, async (record) => ({
      ...presentExecution(record.execution),
      archived: true,
    }));
    if (view === undefined) throw notFound(unknownExecution);
    return json(view);
  });
}

/** A page of the stream at a time, so that a long conversation is never in memory. */
export function createTranscriptRoute(deps: SourceDeps): Route<Caller> {
  return defineRoute<typeof readAgentTranscript, Caller>(readAgentTranscript, async (request) => {
    const { params, query, caller } = request;
    const { uid, feed } = await executionSource(deps, caller.tenant, params.execution_id);
    const reserve = (bytes: number): Promise<void> => request.reserve(bytes);
    const page = await feed.read(caller.tenant, uid, Number(query.cursor ?? 0), { reserve });
    const last = page.at(-1);
    const isOver = last === undefined || last.record.kind === 'ended';
    return json({
      records: page.map(({ sequence, record }) => ({ sequence, ...record })),
      next_cursor: isOver ? null : String(last.sequence),
    });
  });
}
