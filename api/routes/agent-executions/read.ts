import type { AgentExecution } from '../../../crds/schema/agent-execution.ts';
import { labels } from '../../../crds/labels.ts';
import type { QueryOf } from '../../../lib/http/contract.ts';
import { defineRoute, json, type Route } from '../../../lib/http/index.ts';
import type { Caller } from '../../../lib/identity/caller.ts';
import type { ConversationFeed } from '../../agents/feed.ts';
import type { Cluster } from '../../cluster/index.ts';
import { newestPage } from '../executions/list/page.ts';
import { timeCursor } from '../../../lib/http/paging.ts';
import { listAgentExecutions, readAgentExecution, readAgentTranscript } from './contract.ts';
import { findExecution, locateExecution } from './find.ts';
import { presentExecution, presentSummary } from './present.ts';

export interface ReadDeps {
  readonly cluster: Pick<Cluster, 'agentExecutions'>;
  readonly feed: Pick<ConversationFeed, 'read'>;
}

export function createListRoute({ cluster }: ReadDeps): Route<Caller> {
  return defineRoute<typeof listAgentExecutions, Caller>(listAgentExecutions, async ({ query, caller }) => {
    const page = { limit: query.limit, after: timeCursor.decode(query.cursor) };
    const all = cluster.agentExecutions.list(caller.tenant);
    const { rows, next } = newestPage(all, page, (execution) => isWanted(execution, query));
    return json({
      executions: rows.map(presentSummary),
      next_cursor: next === undefined ? null : timeCursor.encode(next),
    });
  });
}

function isWanted(
  { metadata, spec, status }: AgentExecution,
  { agent, status: phase }: QueryOf<typeof listAgentExecutions>,
): boolean {
  const { phase: own = 'pending', agent: fixed } = status ?? {};
  if (phase !== undefined && own !== phase) return false;
  return agent === undefined || [fixed?.name, fixed?.uid, spec.agent, metadata.labels?.[labels.agent]].includes(agent);
}

export function createReadRoute({ cluster }: ReadDeps): Route<Caller> {
  return defineRoute<typeof readAgentExecution, Caller>(readAgentExecution, async (request) => {
    const { params, caller } = request;
    const reserve = (bytes: number): Promise<void> => request.reserve(bytes);
    return json(presentExecution(await findExecution(cluster.agentExecutions, caller, params.execution_id, reserve)));
  });
}

/** A page of the stream at a time, so that a long conversation is never in memory. */
export function createTranscriptRoute({ cluster, feed }: ReadDeps): Route<Caller> {
  return defineRoute<typeof readAgentTranscript, Caller>(readAgentTranscript, async (request) => {
    const { params, query, caller } = request;
    const { metadata } = await locateExecution(cluster.agentExecutions, caller, params.execution_id);
    const page = await feed.read(caller.tenant, metadata.uid ?? '', Number(query.cursor ?? 0));
    const last = page.at(-1);
    const isOver = last === undefined || last.record.kind === 'ended';
    return json({
      records: page.map(({ sequence, record }) => ({ sequence, ...record })),
      next_cursor: isOver ? null : String(last.sequence),
    });
  });
}
